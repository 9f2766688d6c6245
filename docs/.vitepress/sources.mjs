// Paragraphs of a page that are only a link to Go code. GitHub shows the link. The site shows the program, or a table of
// the options that the doc comments of a struct describe.
import { readdirSync, readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"

const program = /^\[[^\]\n]+\]\(([^)\s]*programs\/[^)\s]+\.go)\)$/gm
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
  })
}

// options returns a table of the exported fields of a struct in a folder. Fields without a comment follow the one that
// describes them.
function options(folder, struct) {
  const type = new RegExp(`^type ${struct} struct \\{\\n([^]*?)^\\}`, "m")
  const files = readdirSync(folder).filter(name => name.endsWith(".go") && !name.endsWith("_test.go"))
  const body = files.map(name => type.exec(readFileSync(resolve(folder, name), "utf8"))).find(Boolean)
  if (!body) throw new Error(`no struct ${struct} in ${folder}`)
  const rows = []
  let comment = []
  for (const line of body[1].split("\n")) {
    const [, said] = /^\t\/\/ ?(.*)$/.exec(line) ?? []
    const [, names, type, after] = /^\t([A-Z]\w*(?:, [A-Z]\w*)*)\s+(.+?)(?:\s+\/\/ (.*))?$/.exec(line) ?? []
    if (said !== undefined) {
      comment.push(said)
    } else if (!names) {
      comment = line === "" ? [] : comment
    } else {
      if (after) comment.push(after)
      const name = names.split(", ").map(n => "`" + n + "`").join(", ") + " " + type.replace(/^func\(.*/, "func")
      if (comment.length === 0 && rows.length > 0) rows.at(-1).name += "<br>" + escape(name)
      else rows.push({ name: escape(name), text: escape(comment.join(" ")) })
      comment = []
    }
  }
  return ["| option | meaning |", "|---|---|", ...rows.map(r => `| ${r.name} | ${r.text} |`)].join("\n") + "\n"
}

// escape makes Markdown of a comment: literals, links to names and web addresses become code.
function escape(text) {
  return text.split(/(`[^`]*`|"[^"]*"|https?:\/\/[^\s,;)]+|\[[A-Z*][\w.]*\]|\[[a-z]+\.[\w.]+\])/).map((part, i) => {
    if (i % 2 === 1) return "`" + part.replace(/^[`[]|[`\]]$/g, "").replaceAll("|", "\\|") + "`"
    return part.replace(/[\\*_|[\]<>]/g, "\\$&")
  }).join("")
}
