// Package docs holds those of the documents beside it that the program itself
// hands out. It has no code.
package docs

import _ "embed" // of the document

// Scene is the contract of a scene, for whoever writes one.
//
//go:embed scene.md
var Scene string
