-- What is ours in the document: values, proven and unverified blocks, generated tables and figures, the trace.
-- Runs under Quarto (before its cross-references) and under plain pandoc, for HTML and Typst.
-- It is the one authority for the rule that proven and unverified are never mixed.
-- All text from _generated/ is data: it is escaped for the format and never read as markup.

local project = os.getenv('QUARTO_PROJECT_DIR') or pandoc.system.get_working_directory()
local sources = dofile(pandoc.path.join { project, 'filters', 'sources.lua' })

local is_html = FORMAT:match('^html') ~= nil
local NBSP = '\u{a0}'
local PROVEN = { reproduced = true, published = true }

local tokens, values, claims, references, build

-- uses[id] is the list of places where a value stands; order is that of first use
local uses, order = {}, {}
-- how often a span, a block was met, to find its line
local seen = {}
-- identifiers that the document defines, and whether it prints the trace
local anchors, has_trace = {}, false
-- charts that stand in the document, by id
local asked = {}
-- whether a chart answers controls, and so needs the Vega libraries
local has_live = false

-- ---------------------------------------------------------------- escaping

local HTML_ESCAPES = { ['&'] = '&amp;', ['<'] = '&lt;', ['>'] = '&gt;', ['"'] = '&quot;', ["'"] = '&#39;' }

local function html(text) return (text:gsub('[&<>"\']', HTML_ESCAPES)) end

-- A Typst string literal.
local function literal(text)
  return '"' .. text:gsub('[\\"]', '\\%0'):gsub('\n', '\\n'):gsub('\r', '') .. '"'
end

-- A Typst array of already written parts.
local function array(parts) return '(' .. table.concat(parts, ', ') .. (#parts > 0 and ',' or '') .. ')' end

local function raw_inline(text) return pandoc.RawInline(is_html and 'html' or 'typst', text) end
local function raw_block(text) return pandoc.RawBlock(is_html and 'html' or 'typst', text) end

-- Words and spaces of a plain text, never markup.
local function words(text) return pandoc.Inlines(text) end

local function mapped(list, turn)
  local result = {}
  for index, item in ipairs(list or {}) do result[index] = turn(item, index) end
  return result
end

-- ---------------------------------------------------------------- reading

local function given(value) return value ~= nil and value ~= pandoc.json.null and value ~= '' end

local function read_json(name, mend)
  local text = sources.read(name)
  if not text then sources.stop(name, 'the file is missing', mend) end
  local ok, data = pcall(pandoc.json.decode, text, false)
  if not ok then sources.stop(name, 'is no valid JSON', 'Run the notebooks again') end
  return data
end

local function by_id(list)
  local found = {}
  for _, item in ipairs(list) do found[item.id] = item end
  return found
end

local function check_value(id, value)
  local where = '_generated/values.json'
  if not id:match('^[%w_][%w_.-]*$') then
    sources.stop(where, 'the value id "' .. id .. '" is not made of letters, digits, _ . -', 'Rename it in its notebook')
  end
  if not tokens.grade[value.grade] then
    sources.stop(where, id .. ' has the unknown grade "' .. tostring(value.grade) .. '"', 'Use one of the five grades')
  end
  if (value.proven == true) ~= (PROVEN[value.grade] == true) then
    sources.stop(where, id .. ' is graded ' .. value.grade .. ' but its "proven" says otherwise', 'Emit it again from its notebook')
  end
end

local function load_data()
  tokens = read_json('theme/tokens.json', 'Restore it from git')
  values = read_json('_generated/values.json', 'Run the notebooks first')
  for id, value in pairs(values) do check_value(id, value) end
  references = sources.read('_generated/references.json') and by_id(read_json('_generated/references.json', '')) or {}
  claims = sources.read('_generated/ledger.json') and by_id(read_json('_generated/ledger.json', ''))
  build = sources.read('_generated/build.json') and read_json('_generated/build.json', '') or {}
end

-- ---------------------------------------------------------------- values

local function grade_mark(grade)
  local shown = tokens.grade[grade]
  if is_html then
    return string.format('<span class="mark g-%s"><span aria-hidden="true">%s</span>%s</span>', grade, shown.mark, NBSP .. shown.word)
  end
  return string.format('#grade-mark(%s);', literal(grade))
end

-- What a value prints: its text or its range, with its suffix unless it is bare.
local function printed(value, show, bare)
  local text = show == 'range' and value.range or value.text
  if bare or not given(value.suffix) then return text end
  return text .. value.suffix:gsub('^ ', NBSP)
end

-- Short values stay on one line with their mark; no phone is too narrow for them.
local LONGEST_UNBROKEN = 20

local function hint(value)
  local parts = { value.grade, value.range .. (given(value.suffix) and value.suffix or '') }
  if given(value.formula) then parts[#parts + 1] = value.formula end
  return table.concat(parts, '; ')
end

local function note_use(id, place)
  if not uses[id] then
    uses[id] = {}
    order[#order + 1] = id
  end
  table.insert(uses[id], place)
end

-- A value as inlines. context.flat: no link and no anchor (headings, link texts);
-- context.figure: the place is the figure as a whole.
local function value_inlines(id, options, context)
  local value = values[id]
  local text = printed(value, options.show, options.bare)
  if context.flat then return pandoc.Inlines { pandoc.Str(text) } end
  local anchor = string.format('use-%s-%d', id, uses[id] and #uses[id] + 1 or 1)
  local place = is_html and anchor or context.figure or anchor
  note_use(id, place)
  local mark = value.proven and '' or grade_mark(value.grade)
  if is_html then
    local short = utf8.len(text) <= LONGEST_UNBROKEN
    local classes = 'val g-' .. value.grade .. (short and ' short' or '') .. (options.context and ' context' or '')
    -- where there is a trace, its entry is what the page's tooltip shows
    local open = has_trace and string.format('<a href="#trace-%s"', id) or string.format('<span title="%s"', html(hint(value)))
    local close = has_trace and '</a>' or '</span>'
    return pandoc.Inlines { raw_inline(string.format('%s class="%s" id="%s">%s%s%s',
      open, classes, anchor, html(text), mark, close)) }
  end
  return pandoc.Inlines { raw_inline(string.format('#value(%s, %s, use: %s, trace: %s, proven: %s);',
    literal(text), literal(value.grade), literal(anchor),
    has_trace and literal('trace-' .. id) or 'none', tostring(value.proven))) }
end

-- ---------------------------------------------------------------- the rules

local ONLY_PROVEN = 'Move it out of the proven block, or put it into an inner ::: caveat'

-- Called for every value and claim that stands in the text; item has grade and proven.
local function check_rules(kind, id, item, marked_context, context, position)
  local block = context.block
  if not block then return end
  if block.kind == 'proven' and not context.caveat and not item.proven then
    sources.stop(position(), string.format('a proven block holds the %s "%s", which is graded %s', kind, id, item.grade), ONLY_PROVEN)
  end
  if block.kind == 'unverified' then
    if not item.proven then
      block.weak = true
    elseif not marked_context then
      sources.stop(position(), string.format('an unverified block holds the proven %s "%s" without .context', kind, id),
        kind == 'value' and 'Write [' .. id .. ']{.val .context}, or move it out of the block' or 'Move it out of the block')
    end
  end
end

local function counted(class, key)
  local slot = class .. '\0' .. key
  seen[slot] = (seen[slot] or 0) + 1
  return seen[slot]
end

local function val_span(span, context)
  local id = pandoc.utils.stringify(span.content)
  local count = counted('val', id)
  local function position() return sources.span('val', id, count) end
  local value = values[id]
  if not value then
    sources.stop(position(), 'the value "' .. id .. '" is not in _generated/values.json', 'Correct the id, or emit it in a notebook')
  end
  local show, bare = span.attributes.show, span.attributes.bare
  if show and show ~= 'range' and show ~= 'text' then
    sources.stop(position(), 'show="' .. show .. '" is unknown', 'Write show=range, or leave it out')
  end
  if bare and bare ~= 'true' then
    sources.stop(position(), 'bare="' .. bare .. '" is unknown', 'Write bare=true, or leave it out')
  end
  local is_context = span.classes:includes('context')
  check_rules('value', id, value, is_context, context, position)
  return value_inlines(id, { show = show, bare = bare == 'true', context = is_context }, context)
end

local function claim_span(span, context)
  local id = pandoc.utils.stringify(span.content)
  local count = counted('claim', id)
  local function position() return sources.span('claim', id, count) end
  if not claims then sources.stop(position(), 'claims need _generated/ledger.json, which is missing', 'Run the notebooks first') end
  local claim = claims[id]
  if not claim then sources.stop(position(), 'the claim "' .. id .. '" is not in _generated/ledger.json', 'Correct the id, or add it to data/claims/') end
  check_rules('claim', id, claim, span.classes:includes('context'), context, position)
  local text = given(claim.short) and claim.short or id
  local target = 'claim-' .. id
  local linked = anchors[target] and not context.flat
  local mark = tokens.grade[claim.grade] and grade_mark(claim.grade) or ''
  if is_html then
    if mark ~= '' then mark = NBSP .. mark end
    local open = linked and string.format('<a href="#%s"', target) or '<span'
    return pandoc.Inlines { raw_inline(string.format('%s class="claim" title="%s">%s%s</%s>', open,
      html(id .. ': ' .. claim.statement), html(text), mark, linked and 'a' or 'span')) }
  end
  return pandoc.Inlines { raw_inline(string.format('#claim(%s, target: %s);%s',
    literal(text), linked and literal(target) or 'none', mark ~= '' and '~' .. mark or '')) }
end

-- Text in another language: the right glyphs in the PDF need the language told.
local function in_language(inlines, lang)
  if is_html then return pandoc.Inlines { pandoc.Span(inlines, { lang = lang }) } end
  local result = pandoc.Inlines { raw_inline('#foreign(' .. literal(lang) .. ')[') }
  result:extend(inlines)
  result:insert(raw_inline('];'))
  return result
end

-- ---------------------------------------------------------------- tables

local ALIGN = { left = 'AlignLeft', right = 'AlignRight', center = 'AlignCenter' }

local cell_inlines

-- On the page an id may break after an underscore; the template does the same for the PDF.
local function breakable(inlines)
  if not is_html then return inlines end
  return inlines:walk { Str = function(str)
    if not str.text:find('%w_%w') then return nil end
    local pieces = pandoc.Inlines {}
    for piece in str.text:gmatch('[^_]*_*') do
      if #pieces > 0 and piece ~= '' then pieces:insert(raw_inline('<wbr>')) end
      if piece ~= '' then pieces:insert(pandoc.Str(piece)) end
    end
    return pieces
  end }
end

local function text_cell(cell, table_id)
  local inlines = breakable(words(cell.text))
  if given(cell.lang) then inlines = in_language(inlines, cell.lang) end
  if given(cell.href) then
    if not cell.href:match('^https?://') then
      sources.stop('_generated/tables/' .. table_id .. '.json', 'the link "' .. cell.href .. '" is no web address', 'Give https://...')
    end
    inlines = pandoc.Inlines { pandoc.Link(inlines, cell.href) }
  end
  return inlines
end

-- One cell of a table, as the contract describes it.
function cell_inlines(cell, table_id, context, position)
  if cell.value then
    local value = values[cell.value]
    if not value then
      sources.stop('_generated/tables/' .. table_id .. '.json', 'the value "' .. cell.value .. '" is not in values.json', 'Emit it in a notebook')
    end
    check_rules('value', cell.value, value, context.marked, context, position)
    local inlines = value_inlines(cell.value, { show = cell.show, bare = cell.bare, context = context.marked }, context)
    return cell.strong and pandoc.Inlines { pandoc.Strong(inlines) } or inlines
  elseif cell['break'] then
    return pandoc.Inlines { pandoc.LineBreak() }
  elseif cell.grade then
    return pandoc.Inlines { raw_inline(grade_mark(cell.grade)) }
  elseif cell.text then
    local inlines = text_cell(cell, table_id)
    if given(cell.anchor) then
      inlines:insert(1, raw_inline(is_html and string.format('<span id="%s"></span>', html(cell.anchor))
        or string.format('#anchor(%s);', literal(cell.anchor))))
    end
    return inlines
  end
  local joined = pandoc.Inlines {}
  for index, part in ipairs(cell) do
    if index > 1 then joined:insert(pandoc.Space()) end
    joined:extend(cell_inlines(part, table_id, context, position))
  end
  return joined
end

-- In the PDF a column that is "under" the one before it gives its cells to that one's.
local function stands_alone(column) return is_html or not column.under end

local function column_specs(data)
  local total, specs = 0, {}
  for index, column in ipairs(data.columns) do
    if data.widths and stands_alone(column) then total = total + data.widths[index] end
  end
  for index, column in ipairs(data.columns) do
    local width = total > 0 and data.widths[index] / total or nil
    if stands_alone(column) then table.insert(specs, { ALIGN[column.align] or 'AlignDefault', width }) end
  end
  return specs
end

local function add_cell(cells, column, inlines, span)
  if stands_alone(column) then
    cells:insert { inlines = inlines, align = column.align, span = span }
  elseif #inlines > 0 then
    local above = cells[#cells].inlines
    above:insert(raw_inline('#beneath['))
    above:extend(inlines)
    above:insert(raw_inline('];'))
  end
end

local function has_row_heads(data)
  for _, row in ipairs(data.rows) do
    if not row[1].header then return false end
  end
  return #data.rows > 0
end

local function continues(row) return row and row[1].header and row[1].text == '' end

-- Over how many rows the head of this one stands: heads without text below it continue it.
local function head_span(rows, index)
  local span = 1
  while continues(rows[index + span]) do span = span + 1 end
  return span
end

local function read_table(id, position)
  local data = id:match('^[%w_.-]+$') and sources.read('_generated/tables/' .. id .. '.json')
  if not data then
    sources.stop(position(), 'the table "' .. id .. '" is not in _generated/tables/', 'Correct the id, or emit it in a notebook')
  end
  return read_json('_generated/tables/' .. id .. '.json', '')
end

-- The table as a pandoc table; on the page it stands in a container that scrolls on its own.
local function table_blocks(id, label, context, position)
  local data = read_table(id, position)
  local titles = pandoc.List {}
  for _, column in ipairs(data.columns) do
    add_cell(titles, column, words(column.title))
  end
  local heads = mapped(titles, function(title) return pandoc.Cell({ pandoc.Plain(title.inlines) }, ALIGN[title.align]) end)
  local rows = {}
  for index, row in ipairs(data.rows) do
    if #row ~= #data.columns then
      sources.stop('_generated/tables/' .. id .. '.json', string.format('row %d has %d cells for %d columns', index, #row, #data.columns), 'Emit it again')
    end
    local cells = pandoc.List {}
    for place, cell in ipairs(row) do
      if place > 1 or index == 1 or not continues(row) then
        local span = place == 1 and head_span(data.rows, index) or 1
        add_cell(cells, data.columns[place], cell_inlines(cell, id, context, position), span)
      end
    end
    rows[index] = pandoc.Row(mapped(cells, function(cell)
      return pandoc.Cell({ pandoc.Plain(cell.inlines) }, 'AlignDefault', cell.span)
    end))
  end
  local body = { attr = pandoc.Attr(), body = rows, head = {}, row_head_columns = has_row_heads(data) and 1 or 0 }
  local stacks = false
  for _, column in ipairs(data.columns) do stacks = stacks or column.under end
  -- the class keeps pandoc from wrapping a second figure around it in Typst
  local attr = pandoc.Attr('', is_html and { 'generated', stacks and 'stacks' or nil } or { 'typst:no-figure' })
  local made = pandoc.Table({ long = {}, short = nil }, column_specs(data), pandoc.TableHead { pandoc.Row(heads) },
    { body }, pandoc.TableFoot(), attr)
  if not is_html then
    return stacks and pandoc.Blocks { raw_block('#fine-print['), made, raw_block(']') } or pandoc.Blocks { made }
  end
  -- a list of pairs: the order of a Lua table differs from run to run
  local scroll = pandoc.Attr('', { 'table-scroll' }, { { 'role', 'region' }, { 'aria-label', label }, { 'tabindex', '0' } })
  return pandoc.Blocks { pandoc.Div({ made }, scroll) }
end

-- ---------------------------------------------------------------- figures

-- Several charts on one page must not share ids: every id and every reference to one gets a prefix.
local function prefixed(svg, prefix)
  svg = svg:gsub('<%?xml.-%?>%s*', ''):gsub('<!DOCTYPE.->%s*', '')
  svg = svg:gsub('(%sid=")', '%1' .. prefix)
  svg = svg:gsub('url%(#', 'url(#' .. prefix)
  -- the picture has one description, its alternative; those of its marks would never be read
  svg = svg:gsub('%saria%-%l+="[^"]*"', ''):gsub('%srole="graphics%-[%l-]+"', '')
  return (svg:gsub('(href="#)', '%1' .. prefix))
end

local function labelled(svg, alt)
  svg = svg:gsub('<svg', '<svg role="img" aria-label="' .. html(alt):gsub('%%', '%%%%') .. '"', 1)
  return svg
end

local function figure_meta(id, position)
  local missing = not id:match('^[%w_.-]+$')
  for _, ending in ipairs { '.svg', '.vl.json', '.meta.json' } do
    local name = '_generated/figures/' .. id .. ending
    if missing or not sources.read(name) then
      sources.stop(position(), 'the figure "' .. id .. '" needs ' .. name .. ', which is missing', 'Correct the id, or emit it in a notebook')
    end
  end
  local meta = read_json('_generated/figures/' .. id .. '.meta.json', '')
  if not given(meta.alt) then
    sources.stop('_generated/figures/' .. id .. '.meta.json', 'the text alternative is empty', 'Give the chart an alt text')
  end
  return meta
end

-- The native controls of a chart: hidden until a script can answer them.
local function control_html(id, control)
  local name = 'control-' .. id .. '-' .. control.name
  local head = string.format('<p><label for="%s">%s</label>', name, html(control.label))
  if control.options then
    local options = mapped(control.options, function(option)
      return string.format('<option value="%s"%s>%s</option>', html(option.value),
        option.value == control.value and ' selected' or '', html(option.text))
    end)
    return string.format('%s<select id="%s" name="%s">%s</select></p>', head, name, control.name, table.concat(options))
  end
  local shown = control.kind == 'range' and string.format('<output for="%s" data-unit="%s">%s</output>',
    name, html(control.unit), html(control.value .. control.unit)) or ''
  return string.format('%s<input type="%s" id="%s" name="%s" min="%s" max="%s" step="%s" value="%s">%s</p>',
    head, control.kind, name, control.name, control.min, control.max, control.step, control.value, shown)
end

local function controls_block(id, controls)
  local parts = mapped(controls, function(control) return control_html(id, control) end)
  return raw_block(string.format(
    '<form class="controls" id="%s" autocomplete="off" aria-label="Controls: %s" hidden>\n%s\n<p><button type="reset">Reset</button></p>\n</form>\n<div class="answer" role="status"></div>',
    id, html(table.concat(mapped(controls, function(control) return control.label end), ', ')), table.concat(parts, '\n')))
end

local function figure_blocks(id, label, context, position)
  local meta = figure_meta(id, position)
  -- a chart that is shown again stays a picture: its controls cannot stand in two places
  local controls = not asked[id] and meta.controls
  asked[id] = true
  local numbers = given(meta.table) and table_blocks(meta.table, 'Numbers of this chart', context, position)
  local file = '_generated/figures/' .. id
  if not is_html then
    return pandoc.Blocks { raw_block(string.format('#chart(%s, %s)', literal(file .. '.svg'), literal(meta.alt))) }
  end
  local spec = controls and sources.read(file .. '.vl.json'):gsub('<', '\\u003c')
  local svg = labelled(prefixed(sources.read(file .. '.svg'), label .. '-'), meta.alt)
  local blocks = pandoc.Blocks {}
  if controls then blocks:insert(controls_block(id, controls)) end
  blocks:insert(raw_block(string.format('<div class="chart"%s tabindex="0" role="group" aria-label="Chart">\n%s\n</div>',
    spec and ' data-spec="spec-' .. label .. '"' or '', svg)))
  if spec then
    has_live = true
    blocks:insert(raw_block(string.format('<script type="application/json" id="spec-%s">%s</script>', label, spec)))
  end
  if numbers then
    blocks:insert(raw_block('<details class="chart-numbers"><summary>Numbers of this chart</summary>'))
    blocks:extend(numbers)
    blocks:insert(raw_block('</details>'))
  end
  return blocks
end

-- The page's scripts, the Vega libraries where a chart needs them, and the claims for machines.
local function scripts()
  if not is_html then return pandoc.Blocks {} end
  local function script(kind, text)
    return raw_block('<script' .. kind .. '>' .. text:gsub('</(script)', '<\\/%1') .. '</script>')
  end
  local blocks = pandoc.Blocks {}
  local reviews = sources.read('_generated/reviews.json')
  if reviews then blocks:insert(script(' type="application/ld+json"', (reviews:gsub('<', '\\u003c')))) end
  local bundle = has_live and sources.read('_generated/vega-bundle.b64')
  if bundle then blocks:insert(script(' type="text/plain" id="vega-bundle"', bundle)) end
  for _, name in ipairs { 'page', 'ledger' } do
    local text = sources.read('theme/' .. name .. '.js')
    if text then blocks:insert(script('', '(function () {\n' .. text .. '\n})();')) end
  end
  return blocks
end

-- ---------------------------------------------------------------- the trace

-- The used values and, behind them, every value that they were computed from.
local function traced()
  local list, known = {}, {}
  local function add(id)
    if not known[id] and values[id] then
      known[id] = true
      list[#list + 1] = id
    end
  end
  for _, id in ipairs(order) do add(id) end
  local index = 1
  while index <= #list do
    for _, input in ipairs(values[list[index]].inputs or {}) do add(input) end
    index = index + 1
  end
  return list
end

-- A source as a citation, so that it is named as in the text and stands in the references.
local function source_inlines(id, places)
  local place = #places > 0 and words(', ' .. table.concat(places, '; ')) or {}
  if references[id] then
    return pandoc.Inlines { pandoc.Cite({}, { pandoc.Citation(id, 'NormalCitation', {}, place) }) }
  end
  local inlines = words(id)
  inlines:extend(place)
  return inlines
end

-- Each source once, with all its places; of these the ones that skip names stay out.
local function joined_sources(value, skip)
  local ids, places = pandoc.List {}, {}
  for _, source in ipairs(value.sources or {}) do
    if not (skip and skip[source.id .. '\0' .. (source.place or '')]) then
      if not places[source.id] then
        ids:insert(source.id)
        places[source.id] = {}
      end
      if given(source.place) then table.insert(places[source.id], source.place) end
    end
  end
  local inlines = pandoc.Inlines {}
  for index, id in ipairs(ids) do
    if index > 1 then inlines:insert(pandoc.Space()) end
    inlines:extend(source_inlines(id, places[id]))
  end
  return inlines
end

-- The sources that the entries of a value's inputs show already; in print they are not repeated.
local function inherited(id)
  local skip = {}
  for _, input in ipairs(values[id].inputs or {}) do
    for _, source in ipairs(input ~= id and values[input] and values[input].sources or {}) do
      skip[source.id .. '\0' .. (source.place or '')] = true
    end
  end
  return skip
end

-- The formula in pieces { text, id }: an id where the piece names an input that has an entry;
-- then the inputs that the formula does not name. What only says the value's own id says nothing.
local function formula_pieces(id)
  local value = values[id]
  local known, named, pieces = {}, { [id] = true }, {}
  for _, input in ipairs(value.inputs or {}) do known[input] = input ~= id and values[input] ~= nil end
  local formula = given(value.formula) and value.formula ~= id and value.formula or ''
  for gap, word in formula:gmatch('([^%w_]*)([%w_]*)') do
    if gap ~= '' then pieces[#pieces + 1] = { gap } end
    if word ~= '' then pieces[#pieces + 1] = { word, known[word] and word or nil } end
    named[word] = true
  end
  local others = {}
  for _, input in ipairs(value.inputs or {}) do
    if not named[input] then others[#others + 1] = { input, known[input] and input or nil } end
  end
  return pieces, others
end

local function notebook_text(value)
  if not given(value.notebook) then return '' end
  return value.notebook .. (given(value.cell) and ', cell ' .. value.cell or '')
end

local function label_of(id) return given(values[id].label) and values[id].label or id end

local function html_code(piece)
  local text = '<code>' .. html(piece[1]) .. '</code>'
  return piece[2] and string.format('<a href="#trace-%s">%s</a>', piece[2], text) or text
end

-- Rows of one entry of the page's trace: { name, inlines }; what a value does not have is left out.
local function html_rows(id)
  local value = values[id]
  local formula, others = formula_pieces(id)
  local back = mapped(uses[id], function(place, index)
    return string.format('<a href="#%s" aria-label="use %d of %s">%d</a>', place, index, id, index)
  end)
  local function row(name, text) return { name, { raw_inline(text) } } end
  local sources_row = joined_sources(value)
  local rows = pandoc.List { row('Id', '<code>' .. html(id) .. '</code>'), row('Interval', html(printed(value, 'range'))) }
  if #formula > 0 then rows:insert(row('Formula', table.concat(mapped(formula, html_code)))) end
  if #others > 0 then rows:insert(row('From', table.concat(mapped(others, html_code), ', '))) end
  if #sources_row > 0 then rows:insert { 'Source', sources_row } end
  if notebook_text(value) ~= '' then rows:insert(row('Notebook', html(notebook_text(value)))) end
  if #back > 0 then rows:insert(row('Used at', '<span class="uses">' .. table.concat(back, ' ') .. '</span>')) end
  return rows
end

local function html_entry(id)
  local value = values[id]
  local inlines = pandoc.Inlines { raw_inline(string.format(
    '<div class="trace-entry" id="trace-%s"><p class="trace-head"><strong>%s</strong> <span class="trace-value">%s</span> %s</p><dl>',
    id, html(label_of(id)), html(printed(value)), grade_mark(value.grade))) }
  for _, row in ipairs(html_rows(id)) do
    inlines:insert(raw_inline('<div><dt>' .. row[1] .. '</dt><dd>'))
    inlines:extend(row[2])
    inlines:insert(raw_inline('</dd></div>'))
  end
  inlines:insert(raw_inline('</dl></div>'))
  return pandoc.Plain(inlines)
end

local function typst_piece(piece)
  return array { literal(piece[1]), piece[2] and literal('trace-' .. piece[2]) or 'none' }
end

local function typst_entry(id)
  local value = values[id]
  local formula, others = formula_pieces(id)
  local inlines = pandoc.Inlines { raw_inline(string.format(
    '(id: %s, label: %s, text: %s, range: %s, grade: %s, formula: %s, others: %s, notebook: %s, uses: %s, sources: [',
    literal(id), literal(label_of(id)), literal(printed(value)), literal(printed(value, 'range')), literal(value.grade),
    array(mapped(formula, typst_piece)), array(mapped(others, typst_piece)),
    literal(notebook_text(value)), array(mapped(uses[id], literal)))) }
  inlines:extend(joined_sources(value, inherited(id)))
  inlines:insert(raw_inline(']),'))
  return pandoc.Plain(inlines)
end

local function trace_blocks()
  local list = traced()
  if #list == 0 then return pandoc.Blocks {} end
  local blocks = pandoc.Blocks { raw_block(is_html and '<div class="trace">' or '#trace-table(') }
  blocks:extend(mapped(list, is_html and html_entry or typst_entry))
  blocks:insert(raw_block(is_html and '</div>' or ')'))
  return blocks
end

-- ---------------------------------------------------------------- walking

local resolve

local function with(context, changes)
  local made = {}
  for key, value in pairs(context) do made[key] = value end
  for key, value in pairs(changes) do made[key] = value end
  return made
end

-- The content of a marked block, framed and named in words.
local function framed(kind, content)
  local word = tokens.block[kind]
  local blocks = pandoc.Blocks {}
  if is_html then
    blocks:insert(raw_block(string.format('<div class="evidence %s" role="group" aria-label="%s">\n<p class="evidence-word">%s</p>', kind, word, word)))
  else
    blocks:insert(raw_block(string.format('#evidence-block(%s)[', literal(kind))))
  end
  blocks:extend(content)
  blocks:insert(raw_block(is_html and '</div>' or ']'))
  return blocks
end

local function marked_block(div, kind, context)
  local count = counted('block', kind)
  if context.block then
    sources.stop(sources.block(kind, count), 'a ' .. kind .. ' block stands inside a ' .. context.block.kind .. ' block', 'Put them one after the other')
  end
  local block = { kind = kind }
  local content = resolve(div.content, with(context, { block = block }))
  if kind == 'unverified' and not block.weak then
    sources.stop(sources.block(kind, count), 'an unverified block holds no value and no claim below published',
      'Name the unverified value or claim, or remove the block')
  end
  return framed(kind, content)
end

-- A generated table or figure: what is made, then the caption as it was written.
local function generated(div, key, make, context)
  local id = div.attributes[key]
  local count = counted(key, id)
  local function position() return sources.attribute(key, id, count) end
  local label = div.identifier
  local wanted = key == 'generated-table' and 'tbl-' or 'fig-'
  if label:sub(1, 4) ~= wanted then
    sources.stop(position(), key .. ' stands in a block without an id {#' .. wanted .. '...}', 'Give it one, so that it is numbered')
  end
  local caption = div.content[#div.content]
  if #div.content ~= 1 or caption.t ~= 'Para' then
    sources.stop(position(), 'the block holds something other than its caption', 'Leave one paragraph, the caption, in it')
  end
  local inner = with(context, { marked = div.classes:includes('context') })
  local name = pandoc.utils.stringify(caption)
  if key == 'generated-figure' then
    inner.figure = label
    div.content = make(id, label, inner, position)
  else
    div.content = make(id, name, inner, position)
  end
  div.content:extend(resolve(pandoc.Blocks { caption }, context))
  div.attributes[key] = nil
  return div
end

local function one_div(div, context)
  if div.classes:includes('proven') then return marked_block(div, 'proven', context) end
  if div.classes:includes('unverified') then return marked_block(div, 'unverified', context) end
  if div.classes:includes('caveat') then
    return framed('caveat', resolve(div.content, with(context, { caveat = true })))
  end
  if div.attributes['generated-table'] then return generated(div, 'generated-table', table_blocks, context) end
  if div.attributes['generated-figure'] then return generated(div, 'generated-figure', figure_blocks, context) end
  return nil
end

local function one_span(span, context)
  if span.classes:includes('val') then return val_span(span, context) end
  if span.classes:includes('claim') then return claim_span(span, context) end
  if span.attributes.lang and not is_html then
    return in_language(resolve(span.content, context), span.attributes.lang)
  end
  return nil
end

-- Everything of ours in blocks or inlines, in document order; context says in what they stand.
function resolve(content, context)
  local function flat(element)
    element.content = resolve(element.content, with(context, { flat = true }))
    return element, false
  end
  return content:walk {
    traverse = 'topdown',
    Div = function(div)
      local made = one_div(div, context)
      if made then return made, false end
    end,
    Span = function(span)
      local made = one_span(span, context)
      if made then return made, false end
    end,
    Header = flat,
    Link = flat,
  }
end

-- The trace comes last: it lists what all the rest has used, also where it does not stand last.
local function fill_trace(blocks)
  return blocks:walk { Div = function(div)
    local wanted = div.attributes['generated-trace']
    if not wanted then return nil end
    if wanted ~= 'all' then
      sources.stop(sources.attribute('generated-trace', wanted, 1), 'generated-trace="' .. wanted .. '" is unknown', 'Write generated-trace="all"')
    end
    return trace_blocks()
  end }
end

local function survey(blocks)
  local function note(element) if element.identifier ~= '' then anchors[element.identifier] = true end end
  blocks:walk {
    Header = note, Span = note,
    Div = function(div)
      note(div)
      has_trace = has_trace or div.attributes['generated-trace'] ~= nil
      local text = div.attributes['generated-table'] and sources.read('_generated/tables/' .. div.attributes['generated-table'] .. '.json')
      for anchor in (text or ''):gmatch('"anchor":%s*"([%w_.-]+)"') do anchors[anchor] = true end
    end,
  }
end

-- ---------------------------------------------------------------- the document

local function css_variables(colours)
  local names = {}
  for name in pairs(colours) do names[#names + 1] = name end
  table.sort(names)
  return table.concat(mapped(names, function(name) return '--' .. name .. ':' .. colours[name] end), ';')
end

-- Charts carry the light colours as attributes; in the dark each gives way to its counterpart,
-- in the static picture and in the drawn one alike, without drawing anything again.
local function dark_charts()
  local rules = {}
  for name, light in pairs(tokens.chart) do
    for _, property in ipairs { 'fill', 'stroke' } do
      rules[#rules + 1] = string.format('.chart svg [%s="%s"]{%s:%s}', property, light, property, tokens['chart-dark'][name])
    end
  end
  table.sort(rules)
  return table.concat(rules)
end

local function tokens_style()
  return string.format('<style>:root{%s;--measure:%s;--page:%s}\n@media screen and (prefers-color-scheme: dark){:root{%s}%s}</style>',
    css_variables(tokens.colour.light), tokens.size.measure, tokens.size.page, css_variables(tokens.colour.dark), dark_charts())
end

local function build_line()
  if not given(build.short) then return nil end
  return 'Version ' .. build.short .. (build.dirty and ' with uncommitted changes' or '') .. ' of ' .. build.date
end

local function complete_meta(meta)
  if given(build.date) then meta['build-date'] = pandoc.MetaString(build.date) end
  local line = build_line()
  if line then meta['build-line'] = pandoc.Inlines(line) end
  local citation = is_html and sources.read('_generated/citation.json')
  if citation then
    meta['citation'] = pandoc.MetaBlocks { raw_block('<script type="application/ld+json">' .. citation .. '</script>') }
  end
  if is_html then meta['tokens-css'] = pandoc.MetaBlocks { raw_block(tokens_style()) } end
  local kind = pandoc.utils.type(meta.abstract)
  if kind == 'Inlines' or kind == 'Blocks' then meta.abstract = resolve(meta.abstract, {}) end
end

-- A reader's click must not run anything, nor open a file of the reader's own machine.
local function check_links(blocks)
  blocks:walk { Link = function(link)
    local target = link.target:gsub('%s', ''):lower()
    local scheme = target:match('^([%w+.-]*):')
    if scheme and scheme ~= 'https' and scheme ~= 'http' and scheme ~= 'mailto' or target:match('^//') then
      sources.stop(sources.text('](' .. link.target), 'the link to "' .. link.target .. '" is no web address', 'Give https://...')
    end
  end }
end

function Pandoc(doc)
  if not is_html and FORMAT ~= 'typst' then
    sources.stop('_quarto.yml', 'the format ' .. FORMAT .. ' is not made', 'Render html or typst')
  end
  load_data()
  check_links(doc.blocks)
  survey(doc.blocks)
  complete_meta(doc.meta)
  doc.blocks = fill_trace(resolve(doc.blocks, {}))
  doc.blocks:extend(scripts())
  return doc
end
