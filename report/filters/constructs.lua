-- Embedded renderer only, before everything else: what the document may hold.
-- Shows or drops conditional blocks and stops at every construct that it does not know,
-- so that nothing which only Quarto understands goes missing in silence.

local project = pandoc.system.get_working_directory()
local sources = dofile(pandoc.path.join { project, 'filters', 'sources.lua' })

local function set(text)
  local made = {}
  for word in text:gmatch('%S+') do made[word] = true end
  return made
end

local CLASSES = set [[ val claim context proven unverified caveat unnumbered unlisted
  callout-note callout-warning callout-important callout-tip callout-caution
  content-visible content-hidden ]]
local KEYS = set [[ show bare title lang when-format unless-format generated-table generated-figure generated-trace ]]
local FORMATS = set 'html typst'
-- prefixes of Quarto's other numbered things
local FOREIGN = set 'eq lst thm lem cor prp cnj def exm exr sol rem alg nte wrn imp tip cau suppl vid'

local MEND = 'Only the constructs in report/README.md are known; write it with those'

local function stop_at(position, found, mend) sources.stop(position, found, mend or MEND) end

local function stop(needle, found, mend) stop_at(sources.text(needle), found, mend) end

local identifiers = {}

local function check_identifier(id)
  if id == '' then return end
  local prefix = id:match('^(%a+)%-')
  if prefix and FOREIGN[prefix] then stop('#' .. id, 'the id "' .. id .. '" asks for a numbered ' .. prefix) end
  if identifiers[id] then stop_at(sources.text('#' .. id, 2), 'the id "' .. id .. '" is given twice', 'Rename one of them') end
  identifiers[id] = true
end

local function check_attributes(element)
  check_identifier(element.identifier)
  for _, class in ipairs(element.classes) do
    if not CLASSES[class] then stop_at(sources.class(class), 'the class "' .. class .. '" is unknown') end
  end
  for key in pairs(element.attributes) do
    if not KEYS[key] then stop(key .. '=', 'the attribute "' .. key .. '" is unknown') end
  end
end

local function check_code(code)
  check_identifier(code.identifier)
  local class = code.classes[1]
  if class and class:match('^{') or code.text:match('^{%a+}%s') or #code.attributes > 0 then
    stop(class or code.text, 'code that would be run or decorated by Quarto', 'Compute it in a notebook, and use its values here')
  end
end

local last_level = 0

local function check_header(header)
  check_attributes(header)
  if header.level > last_level + 1 then
    stop(('#'):rep(header.level) .. ' ', string.format('a heading of level %d follows one of level %d', header.level, last_level),
      'Leave no level out; the first heading has one #')
  end
  last_level = header.level
end

local function condition(div)
  local behaviour = div.classes:includes('content-visible') and 'content-visible'
    or div.classes:includes('content-hidden') and 'content-hidden'
  if not behaviour then return nil end
  local when, unless = div.attributes['when-format'], div.attributes['unless-format']
  for _, format in pairs { when, unless } do
    if not FORMATS[format] then stop('format="' .. format .. '"', 'the format "' .. format .. '" is unknown', 'Write html or typst') end
  end
  if not when and not unless then stop('.' .. behaviour, behaviour .. ' without a format', 'Add when-format="html" or "typst"') end
  return sources.shows(behaviour, when, unless) and div.content or {}
end

local function check_div(div)
  check_attributes(div)
  local shown = condition(div)
  if shown then return shown, true end
end

local function check_raw(raw)
  if raw.text:match('^%s*<!%-%-.*%-%->%s*$') then return {} end
  stop(raw.text:match('[^\n]+'), 'raw ' .. raw.format .. ' in the source', 'It would be missing in the other format; use Markdown')
end

local function check_image(image)
  stop('](' .. image.src, 'an image', 'Emit it from a notebook and use generated-figure, so that it has a text alternative')
end

local function check_math(math)
  stop(math.text, 'a TeX formula', 'The PDF would lack its text alternative; write it in words or as code')
end

local function check_links(blocks)
  blocks:walk { Link = function(link)
    local target = link.target:match('^#(.+)')
    if target and target ~= 'refs' and not identifiers[target] then
      stop('(#' .. target, 'the link to "#' .. target .. '" leads nowhere', 'Correct it')
    end
  end }
end

local CHECKS = {
  traverse = 'topdown',
  Header = check_header, Div = check_div, Span = check_attributes,
  Code = check_code, CodeBlock = check_code,
  RawInline = check_raw, RawBlock = check_raw, Image = check_image, Math = check_math,
}

function Pandoc(doc)
  doc.blocks = doc.blocks:walk(CHECKS)
  check_links(doc.blocks)
  local abstract = doc.meta.abstract
  if pandoc.utils.type(abstract) == 'Blocks' or pandoc.utils.type(abstract) == 'Inlines' then
    doc.meta.abstract = abstract:walk(CHECKS)
  end
  return doc
end
