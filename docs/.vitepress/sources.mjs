// Paragraphs of a page that are only a link to Go code. GitHub shows the link. The site shows the program, or a table of
// the options of a struct, or of the constants of a type, with their doc comments.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"

const program = /^\[[^\]\n]+\]\(([^)\s]*(?:programs|examples|_starters)\/[^)\s]+\.go)\)$/gm
const constants = /^\[(Values of `\w+\.(\w+)`)\]\(([^)\s]+)\)$/gm
const struct = /^\[((?:Options|Fields) of `\w+\.(\w+)`)\]\(([^)\s]+)\)$/gm

// sources runs before links are resolved and Markdown is parsed.
export function sources(md) {
  md.core.ruler.after("normalize", "sources", state => {
    const page = state.env.realPath ?? state.env.path
    if (!page) return // VitePress reads only the title
    const at = path => resolve(dirname(page), path)
    state.src = state.src
      .replace(program, (_, path) => "```go\n" + readFileSync(at(path), "utf8").trimEnd() + "\n```")
      .replace(struct, (_, title, name, path) => title + ":\n\n" + options(at(path), name))
      .replace(constants, (_, title, name, path) => title + ":\n\n" + values(at(path), name))
  })
}

// options returns a table of the exported fields of a struct in a folder.
function options(folder, struct) {
  const body = find(folder, new RegExp(`^type ${struct}(?:\\[.*\\])? struct \\{\\n([^]*?)^\\}`, "m"), `struct ${struct}`)
  return table("option", body, /^\t([A-Z]\w*(?:, [A-Z]\w*)*)\s+(.+?)(?:\s+\/\/ (.*))?$/, (names, type) =>
    names.split(", ").map(n => "`" + n + "`").join(", ") + " " + escape(type.replace(/^func\(.*/, "func")))
}

// values returns a table of the string constants of a type in a folder or file. An unexported constant has no name there.
function values(path, type) {
  const inBlock = new RegExp(`^const \\(\\n((?:(?!\\)).*\\n)*?\\t\\w+\\s+${type} += "(?:(?!\\)).*\\n|.*\\n)*?)^\\)`, "m")
  return table("value", find(path, inBlock, `constants ${type}`), new RegExp(`^\\t(\\w+)\\s+${type} += "(.*)"$`),
    (name, value) => /^[A-Z]/.test(name) ? "`" + name + "` " + value : "`" + value + "`")
}

function find(path, declaration, name) {
  const files = path.endsWith(".go") ? [path] : readdirSync(path)
    .filter(name => name.endsWith(".go") && !name.endsWith("_test.go")).map(name => resolve(path, name))
  const body = files.map(file => declaration.exec(readFileSync(file, "utf8"))).find(Boolean)
  if (!body) throw new Error(`no ${name} in ${path}`)
  return body[1]
}

const item = "\u0001" // marks an item of a list in a comment

// table returns a table of the declarations in a body. Those without a comment follow the one that describes them.
function table(title, body, declaration, show) {
  const rows = []
  let comment = []
  for (const line of body.split("\n")) {
    const [, said] = /^\t\/\/ ?(.*)$/.exec(line) ?? []
    const [, name, type, after] = declaration.exec(line) ?? []
    if (said !== undefined) {
      comment.push(said.replace(/^\s*- /, item))
    } else if (!name) {
      comment = line === "" ? [] : comment
    } else {
      if (after) comment.push(after)
      if (/^[a-z]/.test(name) && comment.length > 0) comment[0] = sentence(comment[0], name)
      const shown = show(name, type)
      if (comment.length === 0 && rows.length > 0) rows.at(-1).name += "<br>" + shown
      else rows.push({ name: shown, text: escape(comment.join(" ")).replaceAll(item, "<br>• ") })
      comment = []
    }
  }
  return [`| ${title} | meaning |`, "|---|---|", ...rows.map(r => `| ${r.name} | ${r.text} |`)].join("\n") + "\n"
}

// sentence removes an unexported name, with which a comment begins.
function sentence(text, name) {
  const rest = text.replace(new RegExp(`^${name}:? (?:means that )?`), "")
  return rest.charAt(0).toUpperCase() + rest.slice(1)
}

// escape makes Markdown of a comment: literals, links to names and web addresses become code.
function escape(text) {
  return text.split(/(`[^`]*`|"[^"]*"|https?:\/\/[^\s,;)]+|\[[A-Z*][\w.]*\]|\[[a-z]+\.[\w.]+\])/).map((part, i) => {
    if (i % 2 === 1) return "`" + part.replace(/^[`[]|[`\]]$/g, "").replaceAll("|", "\\|") + "`"
    return part.replace(/[\\*_|[\]<>]/g, "\\$&")
  }).join("")
}
