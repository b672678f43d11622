/** Checks that comments name what their file has: parameters after `@param`, and the targets of `{@link}`. */
import ts from 'typescript'
import { placeOf, type Source } from './sources.ts'

/** Adds the identifiers in a part of a file: those that a parameter has or takes apart, or all of them. */
function collectNames(node: ts.Node, names: Set<string>): Set<string> {
  if (ts.isIdentifier(node) || ts.isPrivateIdentifier(node)) names.add(node.text.replace(/^#/, ''))
  ts.forEachChild(node, (child) => void collectNames(child, names))
  return names
}

/** Adds the names in all parameters below a node: of a function, of one that it returns, or of a type of functions. */
function collectParameters(node: ts.Node, names = new Set<string>()): Set<string> {
  if (ts.isParameter(node)) collectNames(node, names)
  else ts.forEachChild(node, (child) => void collectParameters(child, names))
  return names
}

/** Returns a report for each `@param` that is no parameter, and for each `{@link}` to a name that the file lacks. */
export function findUnknownNames(source: Source): string[] {
  const reports: string[] = []
  const visit = (node: ts.Node) => {
    for (const tag of ts.getJSDocTags(node)) {
      if (!ts.isJSDocParameterTag(tag) || tag.parent.parent !== node) continue
      const [name = ''] = tag.name.getText().split('.')
      if (!collectParameters(node).has(name)) reports.push(`${placeOf(source, tag)} @param ${name} is no parameter`)
    }
    ts.forEachChild(node, visit)
  }
  visit(source.file)
  const names = collectNames(source.file, new Set())
  for (const { 0: link, 1: name, index } of source.file.text.matchAll(/\{@link\s+([A-Za-z_]\w*)[^}]*\}/g))
    if (!names.has(name!)) {
      const { line } = source.file.getLineAndCharacterOfPosition(index)
      reports.push(`${source.path}:${line + 1} ${link} names nothing in this file`)
    }
  return reports
}
