// Package renderer is what one does with a scene: Render a film of it, draw
// Stills or a contact Sheet, Check it, and show it in a Preview.
//
// Here live the orders in which the parts are used, the findings of a check and
// the preview's page. How frames come out of a browser is stage's matter, how
// they become a film encode's, what a scene is package scene's.
package renderer
