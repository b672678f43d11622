#!/usr/bin/env node
// Committed, so that `npm ci` can link it before anything is built.
import '../dist/cli.js'
