// Package examples holds the example scenes, for authors that learn from them.
// It has no code.
package examples

import "embed"

// Files are those of the scenes that the author in a box is given, each in a
// folder of its own.
//
//go:embed title/scene.js chart/scene.js kinetic/scene.js orbit/*.js dom-card/scene.js dom-card/card.css
var Files embed.FS
