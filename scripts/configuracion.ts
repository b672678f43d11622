/**
 * Writes the table of configuration variables in `docs/operacion/configuration.md` from `server/platform/config/variables.ts`. With
 * `--comprobar`, writes nothing and fails if the table is stale.
 */
import { readFileSync, writeFileSync } from 'node:fs'
import type { ConfigTable, ConfigVariable } from '../server/platform/config/table.ts'
import { VARIABLES } from '../server/platform/config/variables.ts'

const LIBRO = new URL('../docs/operacion/configuration.md', import.meta.url)
const [PRINCIPIO, FIN] = ['<!-- variables: written by scripts/configuracion.ts -->\n', '<!-- /variables -->']

function porDefecto({ porDefecto, defecto }: ConfigVariable<unknown>): string {
  if (defecto !== undefined) return defecto
  if (porDefecto === undefined) return 'unset'
  return String(typeof porDefecto === 'boolean' ? Number(porDefecto) : porDefecto)
}

const filas = (tabla: ConfigTable, con = ''): string[] =>
  Object.values(tabla).flatMap((fila) => [
    `| \`${fila.nombre}\` | ${porDefecto(fila)} | ${con}${fila.significado} |\n`,
    ...(fila.grupos ?? []).flatMap((grupo) => filas(grupo.tabla, `with \`${grupo.con}\`: `)),
  ])

const libro = readFileSync(LIBRO, 'utf8')
const [antes, ...resto] = libro.split(PRINCIPIO)
const tabla = ['| variable | default | meaning |\n', '|---|---|---|\n', ...filas(VARIABLES)].join('')
const despues = resto.join(PRINCIPIO).slice(resto.join(PRINCIPIO).indexOf(FIN))
const nuevo = `${antes}${PRINCIPIO}${tabla}${despues}`
if (!process.argv.includes('--comprobar')) writeFileSync(LIBRO, nuevo)
else if (nuevo !== libro) {
  console.error('docs/operacion/configuration.md is stale: node scripts/configuracion.ts')
  process.exitCode = 1
}
