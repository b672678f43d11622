/**
 * Entry point of `npm run new -- <documento> <operationId> <método> <ruta>`: writes the files of a new operation and
 * its lines in existing files. The result compiles after `npm run generate`, and the operation's own test fails with
 * "not implemented". Writes nothing if an argument is wrong.
 */
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { addToContract } from './newOperation/contract.ts'
import { readOperation } from './newOperation/operation.ts'
import { addToSdk } from './newOperation/sdk.ts'
import { addToServer } from './newOperation/server.ts'
import { SourceTree } from './newOperation/tree.ts'

const root = new URL('../', import.meta.url)

try {
  const tree = new SourceTree(root)
  const operation = readOperation(tree, process.argv.slice(2))
  addToContract(tree, operation)
  addToServer(tree, operation)
  if (operation.documento === 'comercios') addToSdk(tree, operation)
  const files = tree.write()
  const biome = fileURLToPath(new URL('node_modules/@biomejs/biome/bin/biome', root))
  const format = spawnSync(process.execPath, [biome, 'check', '--write', '--linter-enabled=false', ...files], {
    cwd: root,
    encoding: 'utf8',
  })
  if (format.status !== 0) throw new Error(`${format.stdout}${format.stderr}`)
  console.log(
    [
      `Written for ${operation.id}:`,
      ...files.map((file) => `  ${file}`),
      'Next:',
      '  npm run generate',
      `  npx vitest run ${operation.testFile}   (fails with "not implemented")`,
      '  Write the texts and schemas of the contract, the handler and the tests.',
      '  Keep CHANGELOG.md and openapi/comercios/guia/15-cambios.md true; decisions go to openapi/DECISIONES.md.',
    ].join('\n'),
  )
} catch (error) {
  console.error((error as Error).message)
  process.exitCode = 1
}
