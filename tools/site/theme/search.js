// Searches the pages: every word has to be there, as the begin of one; a heading counts more than the text below it.
(() => {
  const root = document.currentScript.dataset.root
  const form = document.querySelector("form"), box = form.querySelector("input"), list = form.querySelector("ol")
  const pages = document.querySelector("nav details")
  if (matchMedia("(max-width: 52rem)").matches) pages.open = false

  let index
  const load = () => index ??= new Promise((done) => {
    const script = document.createElement("script")
    script.src = root + "search-index.js"
    script.onload = () => done(searchIndex)
    document.head.append(script)
  })
  const words = (text) => text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? []
  const begins = (text, word) => (" " + words(text).join(" ")).includes(" " + word)
  const score = (e, asked) => asked.reduce((sum, word) => {
    const found = (begins(e.h, word) ? 8 : 0) + (begins(e.t, word) ? 3 : 0) + (begins(e.x, word) ? 1 : 0)
    return found && sum >= 0 ? sum + found : -1
  }, 0)
  const item = (e) => {
    const li = document.createElement("li"), a = document.createElement("a"), small = document.createElement("small")
    a.href = root + e.u
    a.textContent = e.h === e.t ? e.t : e.t + ": " + e.h
    small.textContent = e.x.slice(0, 140)
    a.append(small)
    li.append(a)
    return li
  }
  box.addEventListener("focus", load)
  box.addEventListener("input", async () => {
    const asked = words(box.value), all = await load()
    const found = asked.length ? all.map((e) => [score(e, asked), e]).filter(([s]) => s > 0) : []
    found.sort((a, b) => b[0] - a[0])
    list.replaceChildren(...found.slice(0, 12).map(([, e]) => item(e)))
    list.hidden = !found.length
  })
  form.addEventListener("submit", (event) => {
    event.preventDefault()
    list.querySelector("a")?.click()
  })
  document.addEventListener("keydown", (event) => {
    if (event.key === "/" && document.activeElement !== box) { event.preventDefault(); box.focus() }
    if (event.key === "Escape") { list.hidden = true; box.blur() }
  })
})()
