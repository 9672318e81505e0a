-- Embedded renderer only, after evidence.lua: the Quarto constructs that the document may use.
-- Numbered figures and tables (the caption is the last paragraph of the block), references to them
-- and to sections, callouts; a reference or citation that leads nowhere stops the build.

local project = pandoc.system.get_working_directory()
local sources = dofile(pandoc.path.join { project, 'filters', 'sources.lua' })

local is_html = FORMAT:match('^html') ~= nil
local NBSP = '\u{a0}'
local NAMES = { fig = 'Figure', tbl = 'Table', sec = 'Section' }
local CALLOUTS = { note = 'Note', warning = 'Warning', important = 'Important', tip = 'Tip', caution = 'Caution' }

-- targets[id] = { name = 'Figure', number = '1' }
local targets = {}
local counts = { fig = 0, tbl = 0 }
local cited = {}

local function raw_block(text) return pandoc.RawBlock(is_html and 'html' or 'typst', text) end
local function raw_inline(text) return pandoc.RawInline(is_html and 'html' or 'typst', text) end

local function kind_of(id) return id:match('^(fig)%-.') or id:match('^(tbl)%-.') or id:match('^(sec)%-.') end

-- ---------------------------------------------------------------- numbers

local section_numbers = {}

local function number_section(header)
  if header.classes:includes('unnumbered') then
    if kind_of(header.identifier) == 'sec' then targets[header.identifier] = { name = 'Section' } end
    return
  end
  for level = header.level + 1, #section_numbers do section_numbers[level] = nil end
  for level = 1, header.level do section_numbers[level] = section_numbers[level] or 0 end
  section_numbers[header.level] = section_numbers[header.level] + 1
  targets[header.identifier] = { name = 'Section', number = table.concat(section_numbers, '.') }
end

local function number_float(div)
  local kind = kind_of(div.identifier)
  if not counts[kind] then return end
  counts[kind] = counts[kind] + 1
  targets[div.identifier] = { name = NAMES[kind], number = tostring(counts[kind]) }
end

-- ---------------------------------------------------------------- floats

local function html_float(div, kind, caption, target)
  local label = { pandoc.Str(target.name .. NBSP .. target.number .. ':'), pandoc.Space() }
  local blocks = pandoc.Blocks { raw_block(string.format('<figure id="%s" class="quarto-float quarto-float-%s">', div.identifier, kind)) }
  local legend = pandoc.Plain({ raw_inline('<figcaption>') })
  legend.content:extend(label)
  legend.content:extend(caption)
  legend.content:insert(raw_inline('</figcaption>'))
  if kind == 'tbl' then blocks:insert(legend) end
  blocks:extend(div.content)
  if kind == 'fig' then blocks:insert(legend) end
  blocks:insert(raw_block('</figure>'))
  return blocks
end

local function typst_float(div, kind, caption, target)
  local position = kind == 'tbl' and 'top' or 'bottom'
  local blocks = pandoc.Blocks { raw_block('#figure([') }
  blocks:extend(div.content)
  local legend = pandoc.Plain({ raw_inline('], caption: figure.caption(position: ' .. position .. ', [') })
  legend.content:extend(caption)
  legend.content:insert(raw_inline(string.format(']), kind: "quarto-float-%s", supplement: "%s")<%s>', kind, target.name, div.identifier)))
  blocks:insert(legend)
  return blocks
end

local function float(div)
  local kind = kind_of(div.identifier)
  if kind ~= 'fig' and kind ~= 'tbl' then return nil end
  local last = div.content[#div.content]
  if #div.content < 2 or last.t ~= 'Para' then
    sources.stop(sources.text('#' .. div.identifier), 'the block "' .. div.identifier .. '" needs content and a caption as its last paragraph',
      'Add the caption')
  end
  div.content:remove()
  local make = is_html and html_float or typst_float
  return make(div, kind, last.content, targets[div.identifier])
end

-- ---------------------------------------------------------------- callouts

local function callout_title(div, kind)
  local title = div.attributes.title
  if title then return pandoc.read(title, 'markdown').blocks[1].content end
  local first = div.content[1]
  if first and first.t == 'Header' then
    div.content:remove(1)
    return first.content
  end
  return pandoc.Inlines { pandoc.Str(CALLOUTS[kind]) }
end

local function callout(div)
  for kind in pairs(CALLOUTS) do
    if div.classes:includes('callout-' .. kind) then
      local title = callout_title(div, kind)
      local blocks = pandoc.Blocks {}
      if is_html then
        blocks:insert(pandoc.Para { pandoc.Strong(title) })
        blocks:extend(div.content)
        return pandoc.Div({ pandoc.BlockQuote(blocks) }, pandoc.Attr(div.identifier, { 'callout' }))
      end
      local head = pandoc.Plain { raw_inline('#callout(title: [') }
      head.content:extend(title)
      head.content:insert(raw_inline('], body: ['))
      blocks:insert(head)
      blocks:extend(div.content)
      blocks:insert(raw_block('])'))
      return blocks
    end
  end
end

-- ---------------------------------------------------------------- references

local function reference(citation)
  local id = citation.id
  local position = sources.text('@' .. id)
  local target = targets[id]
  if not target then
    sources.stop(position, 'the reference @' .. id .. ' leads nowhere', 'Correct it, or give its target {#' .. id .. '}')
  elseif not target.number then
    sources.stop(position, 'the reference @' .. id .. ' points at an unnumbered section', 'Number the section, or use a link')
  elseif #citation.prefix > 0 or #citation.suffix > 0 then
    sources.stop(position, 'the reference @' .. id .. ' has a prefix or suffix', 'Write these words outside the reference')
  end
  local bare = citation.mode == 'SuppressAuthor'
  if not is_html then
    return raw_inline(string.format('#ref(<%s>, supplement: [%s]);', id, bare and '' or target.name))
  end
  local text = bare and target.number or target.name .. NBSP .. target.number
  return pandoc.Link(text, '#' .. id, '', pandoc.Attr('', { 'quarto-xref' }))
end

local function cite(element)
  local inlines, others = pandoc.Inlines {}, 0
  for index, citation in ipairs(element.citations) do
    if kind_of(citation.id) then
      if index > 1 then inlines:extend { pandoc.Str(','), pandoc.Space() } end
      inlines:insert(reference(citation))
    else
      others = others + 1
      if not cited[citation.id] then
        sources.stop(sources.text('@' .. citation.id), 'the citation @' .. citation.id .. ' is not in the bibliography', 'Correct it, or add it to data/sources.yml')
      end
    end
  end
  if others == 0 then return inlines end
  if others < #element.citations then
    sources.stop(sources.text('@' .. element.citations[1].id), 'a reference and a citation follow each other directly', 'Put a word or a comma between them')
  end
end

local function read_bibliography(meta)
  local name = meta.bibliography and pandoc.utils.stringify(meta.bibliography)
  local text = name and sources.read(name)
  if not text then return end
  for _, entry in ipairs(pandoc.json.decode(text, false)) do cited[entry.id] = true end
end

function Pandoc(doc)
  read_bibliography(doc.meta)
  doc.blocks:walk { traverse = 'topdown', Header = number_section, Div = number_float }
  doc = doc:walk { Cite = cite }
  doc.blocks = doc.blocks:walk { Div = function(div) return float(div) or callout(div) end }
  return doc
end
