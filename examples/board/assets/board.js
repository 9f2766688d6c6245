// What the board does with JavaScript: it changes while it is looked at, and forms need no new page.

const board = document.querySelector("#board")
const notice = document.querySelector("#ended")

function ended() {
	notice.hidden = false
	document.querySelector("main").classList.add("ended")
	for (const control of document.querySelectorAll("main button, main input")) control.disabled = true
}

// show draws the board anew. What is not where it was before is marked for a moment; the focus stays on its button.
function show(html) {
	const places = () => [...board.querySelectorAll("[data-card]")].map((card) => card.dataset.card)
	const before = new Set(places())
	const focused = document.activeElement?.getAttribute("aria-label")
	board.innerHTML = html
	for (const card of board.querySelectorAll("[data-card]")) {
		if (before.size > 0 && !before.has(card.dataset.card)) card.classList.add("fresh")
	}
	if (focused && document.activeElement === document.body) {
		;[...board.querySelectorAll("button")].find((b) => b.getAttribute("aria-label") === focused)?.focus()
	}
}

function follow(address) {
	const live = new EventSource(address)
	live.addEventListener("board", (event) => show(event.data))
	live.addEventListener("reload", () => location.reload())
	live.addEventListener("end", () => {
		live.close()
		ended()
	})
	// A connection that was lost is tried again by itself. One that was refused is not: nobody is signed in.
	live.addEventListener("error", () => live.readyState === EventSource.CLOSED && ended())
	addEventListener("pagehide", () => live.close())
}

// send posts a form without leaving the page; the live board shows what came of it.
async function send(event) {
	const form = event.target.closest("form[data-live]")
	if (!form || event.defaultPrevented) return
	event.preventDefault()
	const button = event.submitter
	const body = new URLSearchParams(new FormData(form, button))
	const address = button?.getAttribute("formaction") ?? form.getAttribute("action")
	// Where the form leads afterwards is not followed. Without a connection there is no answer, and what was typed stays.
	const answer = await fetch(address, { method: "POST", body, redirect: "manual" }).catch(() => null)
	if (answer?.status === 401) ended()
	else if (answer?.type === "opaqueredirect") form.reset()
	else if (answer) location.reload()
}

if (board) {
	follow(board.dataset.live)
	addEventListener("submit", send)
}
