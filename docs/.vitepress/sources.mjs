// Paragraphs of a page that are only a link to a Go file. GitHub shows the link. The site shows the program, or a table of
// the options that the doc comments of a struct describe.
import { readFileSync } from "node:fs"
import { dirname, resolve } from "node:path"

const paragraph = /^\[([^\]\n]+)\]\(([^)\s]+\.go)\)$/gm

// sources runs before links are resolved and Markdown is parsed.
export function sources(md) {
  md.core.ruler.after("normalize", "sources", state => {
    const page = state.env.realPath ?? state.env.path
    if (!page) return // VitePress reads only the title
    state.src = state.src.replace(paragraph, (_, title, path) => {
      const source = readFileSync(resolve(dirname(page), path), "utf8")
      const struct = /^Options of `(?:\w+\.)?(\w+)`$/.exec(title)
      return struct ? title + ":\n\n" + options(source, struct[1]) : "```go\n" + source.trimEnd() + "\n```"
    })
  })
}

// options returns a table of a struct's exported fields. Fields without a comment follow the one that describes them.
function options(source, struct) {
  const body = new RegExp(`^type ${struct} struct \\{\\n([^]*?)^\\}`, "m").exec(source)
  if (!body) throw new Error("no struct " + struct)
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
