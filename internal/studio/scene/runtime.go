package scene

import (
	"embed"
	"io/fs"
	"sort"
	"strings"
)

// The parts of the run-time script, in the order of their names. They share one
// function's scope.
//
//go:embed runtime/*.js
var runtimeFiles embed.FS

// Runtime is the classic script that makes a worker's or a page's realm
// repeatable. Evaluated before anything else, it puts one object on globalThis,
// __proofreel, which the harness takes and deletes. A harness then calls, in
// this order:
//
//	install(options)            options: FontSet.Install
//	describe(module)            its JSON goes to ParseMeta
//	configure(meta)             the checked Meta; gives env
//	addAsset(name, file, bytes, type) for each of meta.assets
//	ready()                     then the scene's setup(env) is awaited
//	begin(frame)                before each draw(ctx, frame/fps, frame, env)
//	check(result)               of each draw
//
// What a scene throws, failure() makes {code, message, stack, frame} of: code
// is a fault's, the stack is for Bundle.Position.
func Runtime() string {
	names, err := fs.Glob(runtimeFiles, "runtime/*.js")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	sort.Strings(names)
	var b strings.Builder
	b.WriteString("(function () {\n'use strict';\n")
	for _, name := range names {
		raw, err := runtimeFiles.ReadFile(name)
		if err != nil {
			panic(err) // it was just listed
		}
		b.Write(raw)
	}
	b.WriteString("})();\n")
	return b.String()
}
