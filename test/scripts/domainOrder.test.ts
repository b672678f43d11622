import { globSync } from 'node:fs'
import { dirname } from 'node:path'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { DOMAIN_ORDER, findUpwardImports } from '../../scripts/checks/domainOrder.ts'

/** Returns the reported imports of a file with this text. */
const reportsOf = (path: string, text: string) =>
  findUpwardImports({ path, file: ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true) })

it('reports imports of folders that are not below, also of types and in exports', () => {
  const text = [
    "import { findGuia } from '../records/guiaLookup.ts'",
    "import type { Deps } from '../deps.ts'",
    "import { present } from './guia.ts'",
    "import { statement } from '../../data/db.ts'",
    "import type { Prueba } from '../pruebasEntrega/prueba.ts'",
    "export { findGuiaPage } from '../guias/list.ts'",
  ].join('\n')
  expect(reportsOf('server/domain/eventos/evento.ts', text)).toEqual([
    expect.stringMatching(/^server\/domain\/eventos\/evento\.ts:5 eventos imports pruebasEntrega/),
    expect.stringMatching(/^server\/domain\/eventos\/evento\.ts:6 eventos imports guias/),
  ])
})

it('keeps the sending of webhooks out of what it sends', () => {
  expect(reportsOf('server/domain/webhooks/delivery.ts', "import { Pump } from './sending/pump.ts'")).toHaveLength(1)
  expect(reportsOf('server/domain/webhooks/sending/pump.ts', "import { avisosOf } from '../delivery.ts'")).toEqual([])
})

it('reports a folder without a level', () => {
  expect(reportsOf('server/domain/tarifas/crear.ts', '')).toEqual([expect.stringContaining('DOMAIN_ORDER lacks')])
})

it('lists each folder of the domain once', () => {
  const folders = globSync('**/*.ts', { cwd: 'server/domain' })
    .map((path) => dirname(path))
    .filter((folder) => folder !== '.')
  expect(DOMAIN_ORDER.flat().sort()).toEqual([...new Set(folders)].sort())
})
