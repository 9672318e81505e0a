-- Where things stand in the source files.
-- pandoc knows no positions, so the lines of index.qmd and of its includes are read here once more,
-- in the order in which they are expanded, and what is looked for is counted in them.

local M = {}

local path = pandoc.path

-- The folder of the document, and how its files are named in messages.
M.project = os.getenv('QUARTO_PROJECT_DIR') or pandoc.system.get_working_directory()
local shown_root = path.filename(M.project)

--- The text of a file, or nil where there is none.
function M.read(name)
  local file = io.open(path.join { M.project, name }, 'rb')
  if not file then return nil end
  local text = file:read('a')
  file:close()
  return text
end

--- True where a block under this condition shows in the format that is being written.
-- behaviour is 'content-visible' or 'content-hidden'; formats are 'html' and 'typst'.
function M.shows(behaviour, when, unless)
  local format = FORMAT:match('^html') and 'html' or FORMAT
  local matches = (not when or when == format) and (not unless or unless ~= format)
  return matches == (behaviour == 'content-visible')
end

local function hides(opener)
  local behaviour = opener:match('%.(content%-visible)') or opener:match('%.(content%-hidden)')
  if not behaviour then return false end
  return not M.shows(behaviour, opener:match('when%-format="?(%w+)'), opener:match('unless%-format="?(%w+)'))
end

-- All lines of a file and of its includes, in order.
local function expand(name, lines, depth)
  local text = M.read(name)
  if not text or depth > 20 then return end
  local number = 0
  for line in (text:gsub('\r\n', '\n') .. '\n'):gmatch('(.-)\n') do
    number = number + 1
    local included = line:match('^%s*{{<%s*include%s+(%S+)%s*>}}%s*$')
    if included then
      expand(path.normalize(path.join { path.directory(name), included }), lines, depth + 1)
    else
      lines[#lines + 1] = { file = name, line = number, text = line }
    end
  end
end

-- Drops what is no prose: fenced code, hidden blocks, code spans, comments.
local function prose(lines)
  local kept, divs, hidden, fence, comment = {}, {}, 0, nil, false
  for _, entry in ipairs(lines) do
    local text = entry.text
    local ticks = text:match('^%s*(```+)') or text:match('^%s*(~~~+)')
    if fence then
      if ticks and ticks:sub(1, 1) == fence:sub(1, 1) and #ticks >= #fence then fence = nil end
    elseif ticks and not text:match('^%s*`+[^`]+`') then
      fence = ticks
    else
      if text:match('^%s*:::+%s*%S') then
        divs[#divs + 1] = hides(text)
        if divs[#divs] then hidden = hidden + 1 end
      elseif text:match('^%s*:::+%s*$') and table.remove(divs) then
        hidden = hidden - 1
      end
      text = text:gsub('`[^`]*`', ''):gsub('<!%-%-.-%-%->', '')
      if comment then
        local _, ends = text:find('-->', 1, true)
        text = ends and text:sub(ends + 1) or ''
        comment = not ends
      end
      local starts = text:find('<!--', 1, true)
      if starts then text, comment = text:sub(1, starts - 1), true end
      if hidden == 0 then kept[#kept + 1] = { file = entry.file, line = entry.line, text = text } end
    end
  end
  return kept
end

local all, visible

local function load()
  if all then return end
  all = {}
  expand('index.qmd', all, 0)
  visible = prose(all)
end

local function shown(entry)
  if not entry then return path.join { shown_root, 'index.qmd' } end
  return path.join { shown_root, entry.file } .. ':' .. entry.line
end

-- The count-th hit of pattern, else the first one, else the document itself.
local function locate(lines, pattern, plain, count)
  local seen, first = 0, nil
  for _, entry in ipairs(lines) do
    local from = 1
    while true do
      local starts, ends = entry.text:find(pattern, from, plain)
      if not starts then break end
      seen, first, from = seen + 1, first or entry, ends + 1
      if seen == count then return shown(entry) end
    end
  end
  return shown(first)
end

local function quoted(text) return (text:gsub('%p', '%%%0')) end

--- "file:line" of the count-th `[content]{... .class ...}`.
function M.span(class, content, count)
  load()
  return locate(visible, '%[' .. quoted(content) .. '%]{[^}]*%.' .. class .. '%f[^%w_-]', false, count)
end

--- "file:line" of the count-th fenced block of this class.
function M.block(class, count)
  load()
  local pattern = '^%s*:::+.-%f[%w]' .. quoted(class) .. '%f[^%w_-]'
  return locate(visible, pattern, false, count)
end

--- "file:line" of the count-th fenced block with this attribute.
function M.attribute(key, value, count)
  load()
  local pattern = '^%s*:::+.-' .. quoted(key) .. '="?' .. quoted(value) .. '"?%f[%s}]'
  return locate(visible, pattern, false, count)
end

--- "file:line" of the count-th place that holds this text, be it prose or not.
function M.text(text, count)
  load()
  local position = locate(visible, text, true, count or 1)
  if not position:match(':%d+$') then position = locate(all, text, true, count or 1) end
  return position
end

--- "file:line" of the first element of this class, written .class or ::: class.
function M.class(class)
  local position = M.text('.' .. class)
  return position:match(':%d+$') and position or M.block(class, 1)
end

--- Stops the build with one message: where, what was found, how to mend it.
-- The exit code is none of pandoc's own, so that render.py knows this message from a warning.
function M.stop(position, found, mend)
  local inside = position:sub(1, #shown_root + 1) == shown_root .. '/'
  if not inside then position = path.join { shown_root, position } end
  io.stderr:write(position .. ': ' .. found .. '. ' .. mend .. '.\n')
  os.exit(2)
end

return M
