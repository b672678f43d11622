/**
 * Checks the house rules that no linter knows: calls that the server must not make, SQL that must not contain request
 * data, the order of the folders of `server/domain`, and names in comments.
 */
import ts from 'typescript'
import { findUnknownNames } from './docNames.ts'
import { findUpwardImports } from './domainOrder.ts'
import { isInFunction, placeOf, readSources, type Source } from './sources.ts'

/** Modules that only files with a matching path may import. */
const RESTRICTED_MODULES: Record<string, RegExp> = {
  'node:child_process': /^(?:server\/data\/embedded|sdk\/cli)\//,
  'node:vm': /^$/,
}
/** Files that run the statements of other modules, and so may call `query` with variable text. */
const GATEWAYS =
  /^server\/(?:data\/(?:connections|db|eventOrder|citus\/(?:cluster|partViews)|embedded\/(?:role|continuous\/walStream))|startup\/(?:startWorkers|migrations))\.ts$/
/** Files whose statements' text depends on the presence of filters, but never on their values. */
const LIST_FILES = /^server\/domain\/(?:guias\/list|webhooks\/listarAvisos)\.ts$/

const faults: string[] = []
const isConstant = (node: ts.Expression) => ts.isIdentifier(node) && /^[A-Z_]+$/.test(node.text)
/** Reports whether the text of a statement is constant. */
const isFixed = (node: ts.Expression): boolean =>
  ts.isStringLiteralLike(node) ||
  isConstant(node) ||
  (ts.isTemplateExpression(node) && node.templateSpans.every(({ expression }) => isConstant(expression))) ||
  (ts.isObjectLiteralExpression(node) &&
    node.properties.some(
      (property) =>
        ts.isPropertyAssignment(property) && property.name.getText() === 'text' && isFixed(property.initializer),
    ))

/** Expression whose `query` takes a `Statement`, which is constant: `Query` itself, a `Db`, or a part of one. */
const isStatementRunner = (callee: ts.Expression): boolean =>
  ts.isIdentifier(callee) ||
  (ts.isPropertyAccessExpression(callee) &&
    /(?:^|[.#])(?:db|primary|partOfChain\(.*\))$/s.test(callee.expression.getText()))

/** Reports whether a call of `query` may get SQL text that is not constant. */
const takesVariableSql = (callee: ts.Expression, sql: ts.Expression): boolean =>
  !isFixed(sql) &&
  (ts.isTemplateExpression(sql) || ts.isBinaryExpression(sql) || ts.isAsExpression(sql) || !isStatementRunner(callee))

/** Returns the house rule that a node breaks; undefined if it breaks none. */
function findViolation(path: string, node: ts.Node): string | undefined {
  if (ts.isImportDeclaration(node)) {
    const { text } = node.moduleSpecifier as ts.StringLiteral
    if (RESTRICTED_MODULES[text] && !RESTRICTED_MODULES[text].test(path)) return `${text} may not be imported here`
  }
  if (ts.isIdentifier(node) && /^(?:eval|Function|\$(?:query|execute)RawUnsafe|insertAdjacentHTML)$/.test(node.text))
    return `${node.text} turns text into code, SQL or HTML`
  if (
    ts.isBinaryExpression(node) &&
    /=$/.test(node.operatorToken.getText()) &&
    /\.(?:inner|outer)HTML$/.test(node.left.getText())
  )
    if (/^[+|&?]*=$/.test(node.operatorToken.getText())) return 'assignment of text as HTML'
  if (!ts.isCallExpression(node)) return undefined
  const { expression: callee, arguments: args } = node
  const name = ts.isPropertyAccessExpression(callee) ? callee.name.text : callee.getText()
  if (name === 'statement' && isInFunction(node)) return 'a statement is defined inside a function'
  if (name === 'dynamicStatement' && !LIST_FILES.test(path)) return 'the text of a statement depends on the request'
  const isOfPages = path.startsWith('server/pages/')
  const [sql] = args
  if (name === 'query' && !isOfPages && !GATEWAYS.test(path) && sql && takesVariableSql(callee, sql))
    return 'SQL text that is not constant'
  return undefined
}

function visit(source: Source, node: ts.Node): void {
  const violation = findViolation(source.path, node)
  if (violation) faults.push(`${placeOf(source, node)} ${violation}`)
  ts.forEachChild(node, (child) => visit(source, child))
}

for (const source of readSources()) {
  faults.push(...findUpwardImports(source), ...findUnknownNames(source))
  visit(source, source.file)
}
console.log([...faults, `${faults.length} faults`].join('\n'))
process.exitCode = faults.length > 0 ? 1 : 0
