// Rules for markdown-it, so that pages which are plain Markdown on GitHub use the features of the site.
import { existsSync } from "node:fs"
import { dirname, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"

export const repository = "https://github.com/latchkey-go/latchkey/"

const docs = fileURLToPath(new URL("..", import.meta.url))

// address returns the address of a page. index.md is the landing page, so README.md of docs has another name.
export const address = page => "/" + page.replace(/^README\.md$/, "overview").replace(/(README|index)?\.md$/, "")

// slug returns the anchor that GitHub creates for a heading.
export const slug = text => text.toLowerCase().replace(/[^\p{L}\p{N}\p{M}_ -]/gu, "").replaceAll(" ", "-")

// tabs shows the parts of a page between <!-- tabs --> and <!-- end of tabs --> as tabs. Each part begins with a
// heading of level 4. All tabs of the site share the selection.
export function tabs(md) {
  md.core.ruler.after("normalize", "tabs", state => {
    let inside = false, fenced = false
    state.src = state.src.split("\n").map(line => {
      if (/^\s*```/.test(line)) fenced = !fenced
      if (fenced) return line
      if (line === "<!-- tabs -->") return inside = true, "::: tabs key:router"
      if (line === "<!-- end of tabs -->") return inside = false, ":::"
      return inside ? line.replace(/^#### /, "== ") : line
    }).join("\n")
  })
}

// links resolves the links of a page: to another page of the site, or to a file of the repository on GitHub. It runs
// here because README.md has another address than its name, which VitePress does not consider.
export function links(md) {
  md.core.ruler.push("links", state => {
    const page = state.env.realPath ?? state.env.path
    if (!page) return // VitePress reads only the title
    const from = dirname(page)
    for (const token of state.tokens.flatMap(t => [t, ...t.children ?? []])) {
      const href = token.type === "link_open" && token.attrGet("href")
      if (!href || /^([a-z]+:|#|\/)/.test(href)) continue
      const [path, anchor] = href.split("#")
      token.attrSet("href", destination(resolve(from, decodeURI(path))) + (anchor ? "#" + anchor : ""))
    }
  })
}

function destination(file) {
  if (!existsSync(file)) throw new Error("a link to a missing file: " + file)
  const path = relative(docs, file)
  if (path.startsWith("..") || !path.endsWith(".md")) {
    return repository + "blob/main/" + relative(resolve(docs, ".."), file)
  }
  return address(path)
}

// pictures replaces <picture> elements, which follow the browser's color scheme, with two pictures that follow the color
// scheme of the site.
export function pictures(md) {
  const picture = /<picture>\s*<source media="\(prefers-color-scheme: dark\)" srcset="([^"]+)">\s*<img src="([^"]+)"/g
  md.core.ruler.after("normalize", "pictures", state => {
    state.src = state.src.replace(picture, (_, dark, light) => {
      return `<picture><img class="dark-only" src="./${dark}" alt=""><img class="light-only" src="./${light}"`
    })
  })
}

// braces keeps {{…}} of Go templates: Vue would evaluate them.
export function braces(md) {
  for (const name of ["text", "code_inline"]) {
    const render = md.renderer.rules[name]
    md.renderer.rules[name] = (...args) => render(...args).replaceAll("{{", "&#123;&#123;")
  }
}

// headings makes the heading of a column without a title an ordinary cell, for screen readers.
export function headings(md) {
  md.core.ruler.push("headings", ({ tokens }) => {
    for (let i = 0; i < tokens.length - 2; i++) {
      if (tokens[i].type === "th_open" && tokens[i + 1].content === "") tokens[i].tag = tokens[i + 2].tag = "td"
    }
  })
}

// copyable gives indented blocks the copy button of fenced ones.
export function copyable(md) {
  md.renderer.rules.code_block = (tokens, i, ...args) => {
    tokens[i].info = "sh"
    return md.renderer.rules.fence(tokens, i, ...args)
  }
}

// diagrams lets the browser draw Mermaid diagrams. Until then, and without JavaScript, the page shows their
// descriptions.
export function diagrams(md) {
  const render = md.renderer.rules.fence
  md.renderer.rules.fence = (tokens, i, ...args) => {
    if (tokens[i].info.trim() !== "mermaid") return render(tokens, i, ...args)
    const source = tokens[i].content
    const description = /accDescr: (.*)/.exec(source)?.[1] ?? ""
    return `<Diagram source="${encodeURIComponent(source)}" description="${md.utils.escapeHtml(description)}" />\n`
  }
}
