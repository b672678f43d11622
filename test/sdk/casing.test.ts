import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import ts from 'typescript'
import { expect, it } from 'vitest'
import { ROOT } from '../../server/platform/root.ts'

const SDK = new URL('sdk/', ROOT)

/** Declaration files of the package's entries. */
function entries(): string[] {
  const { exports } = JSON.parse(readFileSync(new URL('package.json', SDK), 'utf8')) as {
    exports: Record<string, { import?: { types?: string } }>
  }
  return Object.values(exports).flatMap((entry) =>
    entry.import?.types ? [fileURLToPath(new URL(entry.import.types, SDK))] : [],
  )
}

/** Members of each object type that these files export, by the type's name. */
function exportedMembers(files: readonly string[]): [type: string, members: string[]][] {
  const program = ts.createProgram([...files], {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES2023,
    strict: true,
    skipLibCheck: true,
    types: [],
  })
  const checker = program.getTypeChecker()
  return files.flatMap((file) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(file)!)!
    return checker.getExportsOfModule(module).flatMap((exported): [string, string[]][] => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported
      const type = checker.getDeclaredTypeOfSymbol(symbol)
      return (type.isUnion() ? type.types : [type])
        .filter((part) => part.flags & ts.TypeFlags.Object || part.isIntersection())
        .map((part) => [exported.name, checker.getPropertiesOfType(part).map(({ name }) => name)])
    })
  })
}

it('no exported type has members with an underscore beside members in camel case', () => {
  const types = exportedMembers(entries())
  const mixed = types.flatMap(([type, members]) => {
    const withUnderscore = members.filter((name) => /^[a-z]+_\w/.test(name))
    const inCamelCase = members.filter((name) => /^[a-z]+[A-Z]/.test(name))
    return withUnderscore.length > 0 && inCamelCase.length > 0 ? [[type, ...withUnderscore, ...inCamelCase]] : []
  })
  expect(mixed).toEqual([])
  // The contract's types have underscores and the package's own have none, so both kinds were read.
  const named = new Map(types)
  expect(named.get('Guia')).toContain('external_ref')
  expect(named.get('ErrorConflicto')).toContain('idSolicitud')
})
