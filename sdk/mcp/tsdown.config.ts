import { defineConfig } from 'tsdown'
import { PROGRAM } from '../tsdown.config.ts'

/**
 * Bundles the SDK into one file, because npm's registry does not have the SDK. The official MCP packages stay
 * dependencies.
 */
export default defineConfig({
  ...PROGRAM,
  cwd: import.meta.dirname,
  entry: { main: 'src/main.ts' },
  deps: { alwaysBundle: [/^@guias\/sdk/], neverBundle: [/^@modelcontextprotocol\//] },
})
