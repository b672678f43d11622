import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { ROOT } from '../../server/platform/root.ts'

/** What a member's type may hold, as far as a database can tell it apart. */
export interface MemberType {
  classes: Set<string>
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
  const configPath = fileURLToPath(new URL('tsconfig.json', ROOT))
  const { options } = ts.parseJsonConfigFileContent(
    ts.readConfigFile(configPath, (path) => readFileSync(path, 'utf8')).config,
    ts.sys,
    fileURLToPath(ROOT),
  )
  const program = ts.createProgram([...archivos], options)
  const checker = program.getTypeChecker()
  const declaredStatements = new Map<string, DeclaredStatement>()
  for (const archivo of archivos) {
    const visit = (node: ts.Node): void => {
      ts.forEachChild(node, visit)
      if (!ts.isCallExpression(node) || node.expression.getText() !== 'statement') return
      const [name] = node.arguments
      if (!name || !ts.isStringLiteral(name)) return
      const [parametersNode, rowNode] = node.typeArguments ?? []
      declaredStatements.set(name.text, {
        archivo,
        parameters: parametersNode
          ? readMembers(checker, checker.getTypeFromTypeNode(parametersNode), node)
          : new Map(),
        row: rowNode && readMembers(checker, checker.getTypeFromTypeNode(rowNode), node),
      })
    }
    ts.forEachChild(program.getSourceFile(archivo)!, visit)
  }
  return declaredStatements
}

function readMembers(checker: ts.TypeChecker, tipo: ts.Type, place: ts.Node): Map<string, MemberType> {
  return new Map(
    checker
      .getPropertiesOfType(tipo)
      .map((property) => [property.name, classifyType(checker, checker.getTypeOfSymbolAtLocation(property, place))]),
  )
}

function classifyType(checker: ts.TypeChecker, tipo: ts.Type): MemberType {
  const constituents = tipo.isUnion() ? tipo.types : [tipo]
  const isNullish = ({ flags }: ts.Type) => (flags & (ts.TypeFlags.Null | ts.TypeFlags.Undefined)) !== 0
  return {
    classes: new Set(
      constituents.filter((constituent) => !isNullish(constituent)).map((constituent) => toClass(checker, constituent)),
    ),
    nulo: constituents.some(isNullish) || (tipo.flags & (ts.TypeFlags.Any | ts.TypeFlags.Unknown)) !== 0,
  }
}

function toClass(checker: ts.TypeChecker, tipo: ts.Type): string {
  if (tipo.flags & ts.TypeFlags.StringLike) return 'string'
  if (tipo.flags & ts.TypeFlags.NumberLike) return 'number'
  if (tipo.flags & ts.TypeFlags.BooleanLike) return 'boolean'
  if (tipo.flags & ts.TypeFlags.BigIntLike) return 'bigint'
  const name = tipo.symbol?.name
  if (name === 'Date') return 'Date'
  if (name && ['Buffer', 'Uint8Array'].includes(name)) return 'Buffer'
  const [elementType] = checker.isArrayType(tipo) ? checker.getTypeArguments(tipo as ts.TypeReference) : []
  if (elementType) {
    const { classes } = classifyType(checker, elementType)
    return `${[...classes].join('|')}[]`
  }
  return 'object'
}
