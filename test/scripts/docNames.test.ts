import ts from 'typescript'
import { expect, it } from 'vitest'
import { findUnknownNames } from '../../scripts/checks/docNames.ts'

/** Returns the reports about a file with this text. */
const reportsOf = (text: string) =>
  findUnknownNames({ path: 'x.ts', file: ts.createSourceFile('x.ts', text, ts.ScriptTarget.Latest, true) })

it('reports a parameter and a link whose names have changed', () => {
  const text = [
    '/**',
    ' * Sends, within {@link OLD_LIMIT}.',
    ' * @param ancient what to send',
    ' */',
    'export const send = (what: string) => what',
  ].join('\n')
  expect(reportsOf(text)).toEqual([
    'x.ts:3 @param ancient is no parameter',
    'x.ts:2 {@link OLD_LIMIT} names nothing in this file',
  ])
})

it.each([
  ['of a function', '/** @param what x */\nfunction send(what: string) {}'],
  ['that is taken apart', '/** @param what x */\nconst send = ({ what }: { what: string }) => what'],
  ['of a function that is returned', '/** @param what x */\nconst send = (to: string) => (what: string) => to + what'],
  ['of a constructor', 'class Sender {\n  /** @param what x */\n  constructor(what: string) {}\n}'],
  ['of a type', '/** @param what x */\ntype Send = (what: string) => void'],
  ['of a member', 'interface Sender {\n  /** @param what x */\n  send(what: string): void\n}'],
  ['that is a member of the parameter’s type', '/** @param what x */\nfunction Send(props: { what: string }) {}'],
  ['and a link with a text', '/** To {@link send | another}. */\nconst send = 1'],
])('takes a parameter %s', (_label, text) => {
  expect(reportsOf(text)).toEqual([])
})
