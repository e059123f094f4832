// Package scene is the contract between the author of a scene and its
// renderer: what a scene file may say (Meta), how it becomes one module with
// everything it imports (Load), where in the author's files a run-time error
// lies (Bundle.Position), the script that makes a browser's realm repeatable
// (Runtime), and the fonts, libraries and styles that lie in the binary.
//
// It starts no browser and draws nothing: that is the renderer's. The contract
// for authors is docs/scene.md.
package scene

// Version is the contract's version. It grows when a scene that was valid
// would be drawn differently or refused.
const Version = 1
