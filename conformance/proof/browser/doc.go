// Package browser holds no code: its tests sign in to the four example applications with a real Chromium, as a visitor
// would, and to applications whose pages are made with the clients of Auth.js.
//
//   - signin_test.go: each example × each way to sign in, from the home page to signed out again.
//   - pages_test.go: what a visitor meets on the way: wrong passwords, used links, a keyboard alone, no JavaScript.
//   - account_test.go: an account's whole way, from the sign-up with a password to the deletion, on each router.
//   - accessible_test.go: axe-core, from the packages of the folder clients, on every page in every look.
//   - looks_test.go: every page light, dark, 320 px wide, from right to left and at 200 %, with pictures for people to
//     look at: make screenshots.
//   - complaints_test.go: on every page of every test, no console error, no Content-Security-Policy violation and no
//     request to another machine.
//   - frontends_test.go: next-auth/react, @auth/sveltekit/client and both passkey clients, unmodified, against gin and
//     fiber. The folder clients has their versions and the pages that are made with them; site_test.go serves these.
//   - app_test.go, chromium_test.go, visitor_test.go, mailed_test.go: the application's process, the browser, the hands
//     that use it, and the letters that they get.
//
// Chromium is the program named in LATCHKEY_CHROMIUM, else the one that is installed: its headless shell first
// (apt-get install -y chromium-headless-shell), which is the same engine and takes less than half of the processors.
// Without one the tests fail. Pictures go to the folder named in LATCHKEY_SCREENSHOTS, and nobody takes any without it,
// but of a page on which a test failed: that one goes to screenshots beside this file.
package browser
