import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { ROOT } from '../../server/platform/root.ts'

/** What a member's type may hold, as far as a database can tell it apart. */
export interface MemberType {
  clases: Set<string>
  nulo: boolean
}
export interface DeclaredStatement {
  archivo: string
  parameters: Map<string, MemberType>
  /** undefined: the type says nothing of rows */
  row: Map<string, MemberType> | undefined
}

/** Of each `statement<Params, Row>('name', …)` of those files, by its name, what TypeScript was told. */
export function readDeclaredStatements(archivos: readonly string[]): Map<string, DeclaredStatement> {
  const configuracion = fileURLToPath(new URL('tsconfig.json', ROOT))
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configuracion, (ruta) => readFileSync(ruta, 'utf8')).config,
    ts.sys,
    fileURLToPath(ROOT),
  )
  const program = ts.createProgram([...archivos], options)
  const checker = program.getTypeChecker()
  const declaradas = new Map<string, DeclaredStatement>()
  for (const archivo of archivos) {
    const visitar = (nodo: ts.Node): void => {
      ts.forEachChild(nodo, visitar)
      if (!ts.isCallExpression(nodo) || nodo.expression.getText() !== 'statement') return
      const [nombre] = nodo.arguments
      if (!nombre || !ts.isStringLiteral(nombre)) return
      const [parametersNode, rowNode] = nodo.typeArguments ?? []
      declaradas.set(nombre.text, {
        archivo,
        parameters: parametersNode ? miembros(checker, checker.getTypeFromTypeNode(parametersNode), nodo) : new Map(),
        row: rowNode && miembros(checker, checker.getTypeFromTypeNode(rowNode), nodo),
      })
    }
    ts.forEachChild(program.getSourceFile(archivo)!, visitar)
  }
  return declaradas
}

function miembros(checker: ts.TypeChecker, tipo: ts.Type, donde: ts.Node): Map<string, MemberType> {
  return new Map(
    checker
      .getPropertiesOfType(tipo)
      .map((propiedad) => [propiedad.name, clasificar(checker, checker.getTypeOfSymbolAtLocation(propiedad, donde))]),
  )
}

function clasificar(checker: ts.TypeChecker, tipo: ts.Type): MemberType {
  const partes = tipo.isUnion() ? tipo.types : [tipo]
  const isNullish = ({ flags }: ts.Type) => (flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0
  return {
    clases: new Set(partes.filter((parte) => !isNullish(parte)).map((parte) => toClass(checker, parte))),
    nulo: partes.some(isNullish) || (tipo.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0,
  }
}

function toClass(checker: ts.TypeChecker, tipo: ts.Type): string {
  if (tipo.flags & ts.TypeFlags.StringLike) return 'string'
  if (tipo.flags & ts.TypeFlags.NumberLike) return 'number'
  if (tipo.flags & ts.TypeFlags.BooleanLike) return 'boolean'
  if (tipo.flags & ts.TypeFlags.BigIntLike) return 'bigint'
  const nombre = tipo.symbol?.name
  if (nombre === 'Date') return 'Date'
  if (nombre && ['Buffer', 'Uint8Array'].includes(nombre)) return 'Buffer'
  const [elemento] = checker.isArrayType(tipo) ? checker.getTypeArguments(tipo as ts.TypeReference) : []
  if (elemento) {
    const { clases } = clasificar(checker, elemento)
    return `${[...clases].join('|')}[]`
  }
  return 'object'
}
