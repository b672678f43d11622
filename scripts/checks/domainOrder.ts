/** Checks that folders of `server/domain` import only folders below them. */
import { dirname, join } from 'node:path'
import ts from 'typescript'
import { placeOf, type Source } from './sources.ts'

const DOMAIN = 'server/domain/'

/** Folders of `server/domain` from the lowest level to the highest. A folder imports only folders of earlier lines. */
export const DOMAIN_ORDER = [
  'busqueda catalogo estados idempotencia identities salud',
  'comercios operadores records',
  'archivos asignaciones bitacora etiquetas eventos notas',
  'correos ubicacion webhooks',
  'correcciones mensajeria webhooks/sending',
  'decisiones',
  'scans',
  'guias pruebasEntrega',
  'operaciones personas repartidores simulador',
  'equipo',
  'equipo/sessions',
  'equipo/factors',
  'equipo/signIn',
  'equipo/members',
  'aprobaciones llaves',
].map((level) => level.split(' '))

const levelOf = (folder: string) => DOMAIN_ORDER.findIndex((level) => level.includes(folder))

/** Returns the folder of a module below `server/domain`; undefined for other modules and for those in no folder. */
function folderOf(path: string): string | undefined {
  const folder = dirname(path)
  return folder.startsWith(DOMAIN) ? folder.slice(DOMAIN.length) : undefined
}

/** Returns the imports of a file that lead to a folder of its own level or above, each as a line of a report. */
export function findUpwardImports(source: Source): string[] {
  const from = folderOf(source.path)
  if (from === undefined) return []
  if (levelOf(from) < 0)
    return [`${source.path} lies in a folder that DOMAIN_ORDER lacks (scripts/checks/domainOrder.ts)`]
  return source.file.statements.flatMap((statement) => {
    if (!(ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) || !statement.moduleSpecifier)
      return []
    const to = folderOf(join(dirname(source.path), (statement.moduleSpecifier as ts.StringLiteral).text))
    if (to === undefined || to === from || levelOf(to) < levelOf(from)) return []
    return [
      `${placeOf(source, statement)} ${from} imports ${to}, which is not below it (scripts/checks/domainOrder.ts)`,
    ]
  })
}
