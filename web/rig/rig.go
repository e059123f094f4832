// Package rig holds the test rig: a page that makes dropped, repeated and torn
// frames of a recording visible to people and readable by machines.
//
// Here live the page (index.html, rig.css, beacon.js, rig.js) and the handler that
// serves it. Package beacon reads the page's frame numbers out of a film. Driving a
// browser or a recorder is not done here, and nothing of the product imports this.
//
// The page takes its settings from the query (?mode=idle|typing|scroll|anim|full,
// rate, beacon=twin|top, start, seed, rects; rig.js describes them) and exposes its
// counters as window.rig: painted, fps, mode, clicks, latencies, running, setMode(name)
// and rects().
package rig

import (
	"embed"
	"net/http"
)

//go:embed index.html rig.css beacon.js rig.js
var files embed.FS

// Handler serves the page at "/" and forbids caches, so that a changed page is never
// tested in its old form.
func Handler() http.Handler {
	pages := http.FileServerFS(files)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		pages.ServeHTTP(w, r)
	})
}
