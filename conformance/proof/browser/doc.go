// Package browser tests the four example applications in a real Chromium, as a user would, and applications whose pages
// use the Auth.js clients. It contains only tests.
//
//   - signin_test.go: each example with each sign-in method, from the home page until the user is signed out again.
//   - pages_test.go: special cases: wrong passwords, used links, keyboard only, no JavaScript.
//   - account_test.go: the life cycle of an account, from sign-up with a password to deletion, on each router.
//   - accessible_test.go: axe-core, from the packages in the folder clients, on every page in every theme.
//   - looks_test.go: every page in light and dark mode, 320 px wide, right to left and at 200 %. It saves pictures for
//     review: make screenshots.
//   - complaints_test.go: no page of any test may cause a console error, a Content-Security-Policy violation or a
//     request to another machine.
//   - frontends_test.go: next-auth/react, @auth/sveltekit/client and both passkey clients, unmodified, with gin and
//     fiber. The folder clients has their versions and their pages; site_test.go serves them.
//   - recipes_test.go: docs/recipes/spa.md with the JavaScript of the page, and docs/recipes/htmx.md and
//     docs/recipes/datastar.md with the libraries from npm.
//   - app_test.go, chromium_test.go, visitor_test.go, mailed_test.go: start the application and the browser, and act
//     as a user who clicks, types and reads emails.
//
// LATCHKEY_CHROMIUM names the Chromium program. By default the installed one is used. The headless shell is preferred
// (apt-get install -y chromium-headless-shell), because the same browser engine takes less than half of the CPU time in
// it. Without Chromium the tests fail. Pictures are saved in the folder named in LATCHKEY_SCREENSHOTS. Without it no
// pictures are taken, except of a page on which a test failed: that one is saved in screenshots in this folder.
package browser
