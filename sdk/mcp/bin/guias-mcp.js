#!/usr/bin/env node
// This file is in git, so that `npm ci` can link it before the build.
import '../dist/main.js'
