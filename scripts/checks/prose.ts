/**
 * Checks what a program can check of the rules for comments, documents and titles of tests (CONTRIBUTING.md, "Writing"):
 * first words, words that hide the subject, length of sentences and of comments, and the subjects of commits. Part of
 * `npm run check`.
 *
 *     node scripts/checks/prose.ts [path …]               checks only files below these paths, and no commits
 *     node scripts/checks/prose.ts --commit-message file  checks the subject of a commit message, for the git hook
 */
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import ts from 'typescript'

/** Folders whose comments are checked. */
const CODE = ['server', 'sdk', 'scripts', 'bench', 'prisma/schema.prisma', 'openapi']
/** Documents whose sentences are checked; those in Spanish are for users. */
const DOCUMENTS = /^(?:README|ARCHITECTURE|CONTRIBUTING|AGENTS|SECURITY|CHANGELOG|bench\/README|docs\/.*)\.md$/
/** Maximum words of a sentence, and maximum sentences of a comment inside code. */
const MAX_WORDS = 25
const MAX_SENTENCES = 2
/** Maximum characters of a commit's subject, and the commit after which subjects are checked. */
const MAX_SUBJECT = 72
const SINCE = 'af8bcd4'

/** First words of a comment that leave the reader without a subject. */
const OPENING =
  /^(?:what|whose|whom|as whom|whether|until when|of|how|that which|who|whoever|whatever|where|those|it|its|they|he|his)\b/i
/** Words that stand for a subject that is not named. */
const HIDDEN = /\b(?:whoever|whomever|whom|whatever|that which|he who|one's)\b/i

export interface Fault {
  line: number
  reason: string
}

/** Replaces code, links and quotations by one word each, so that they count as one. */
function plain(text: string): string {
  return text
    .replace(/```[\s\S]*?```/g, '')
    .replace(/`[^`]*`|\{@link [^}]*\}|«[^»]*»|"[^"]*"|https?:\/\/\S+|\[[^\]]*\]\([^)]*\)/g, 'x')
    .replace(/\b(?:e\.g|i\.e|etc|vs|No)\./g, 'x')
}

export function sentencesOf(text: string): string[] {
  return plain(text)
    .split(/(?<=[.!?:;])\s+|\n\s*\n/)
    .map((one) => one.trim())
    .filter((one) => one !== '')
}

const wordsOf = (sentence: string) => sentence.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

/** Returns the rules that the text of a comment breaks, as reasons. `bound` limits the number of its sentences. */
export function proseFaults(text: string, bound = Number.POSITIVE_INFINITY): string[] {
  const reasons: string[] = []
  const first = OPENING.exec(text.trim())
  if (first) reasons.push(`starts with "${first[0]}"`)
  const hidden = HIDDEN.exec(plain(text))
  if (hidden) reasons.push(`says "${hidden[0]}"`)
  const sentences = sentencesOf(text)
  for (const sentence of sentences)
    if (wordsOf(sentence) > MAX_WORDS)
      reasons.push(`has a sentence of ${wordsOf(sentence)} words: ${sentence.slice(0, 60)}…`)
  if (sentences.length > bound) reasons.push(`has ${sentences.length} sentences; ${bound} are enough`)
  return reasons
}

interface Comment {
  line: number
  text: string
  kind: 'docstring' | 'header' | 'inside'
}

/** Returns the comments of a TypeScript file. Consecutive line comments count as one. */
export function commentsOf(source: string, name: string): Comment[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest, true)
  const found = new Map<number, ts.CommentRange>()
  const visit = (node: ts.Node) => {
    if (node.kind === ts.SyntaxKind.JsxText) return
    for (const range of ts.getLeadingCommentRanges(source, node.getFullStart()) ?? []) found.set(range.pos, range)
    for (const range of ts.getTrailingCommentRanges(source, node.getEnd()) ?? []) found.set(range.pos, range)
    ts.forEachChild(node, visit)
  }
  visit(file)
  for (const range of ts.getLeadingCommentRanges(source, file.endOfFileToken.getFullStart()) ?? [])
    found.set(range.pos, range)
  const comments: (Comment & { end: number })[] = []
  for (const { pos, end, kind } of [...found.values()].sort((a, b) => a.pos - b.pos)) {
    const raw = source.slice(pos, end)
    const line = file.getLineAndCharacterOfPosition(pos).line + 1
    const block = kind === ts.SyntaxKind.MultiLineCommentTrivia
    const text = block
      ? raw
          .replace(/^\/\*\*?|\*\/$/g, '')
          .replace(/^[ \t]*\* ?/gm, '')
          .replace(/^@(?:returns|throws|param|see|default|example|deprecated|internal)\b.*(?:\n(?!@).*)*/gm, '')
          .replace(/^ {4}.*$/gm, '')
          .trim()
      : raw.replace(/^\/\/+ ?/, '')
    const before = comments.at(-1)
    if (
      !block &&
      before &&
      !before.text.startsWith('biome-') &&
      /^\s*$/.test(source.slice(before.end, pos)) &&
      source.slice(before.end, pos).split('\n').length === 2 &&
      source.slice(0, pos).split('\n').at(-1)!.trim() === ''
    ) {
      before.text += `\n${text}`
      before.end = end
    } else
      comments.push({
        line,
        end,
        text,
        kind: raw.startsWith('/**')
          ? 'docstring'
          : comments.length === 0 &&
              source
                .slice(0, pos)
                .replace(/^(?:#!.*\n|import [\s\S]*?\n(?=\n))*/g, '')
                .trim() === ''
            ? 'header'
            : 'inside',
      })
  }
  return comments.filter(
    ({ text }) => text !== '' && !/^(?:biome-ignore|@ts-|v8 ignore|#|\/ ?<reference|c8|eslint)/.test(text),
  )
}

/**
 * Returns the paragraphs of a Markdown document with their line numbers. Leaves out code, tables, headings and list
 * marks.
 */
function paragraphsOf(markdown: string): { line: number; text: string }[] {
  const paragraphs: { line: number; text: string }[] = []
  let code = false
  let open = false
  for (const [i, raw] of markdown.split('\n').entries()) {
    if (/^\s*(?:```|~~~)/.test(raw)) code = !code
    const skip = code || /^\s*(?:```|~~~|\||#|<|!\[|$)/.test(raw)
    const text = raw.replace(/^\s*(?:[-*>]|\d+\.)\s+/, '').trim()
    if (skip) open = false
    else if (!open || /^\s*(?:[-*>]|\d+\.)\s+/.test(raw)) paragraphs.push({ line: i + 1, text })
    else paragraphs.at(-1)!.text += ` ${text}`
    if (!skip) open = true
  }
  return paragraphs
}

/** Functions of vitest whose first argument is a title. */
const TITLED = new Set(['it', 'test', 'describe'])

/** Returns the name of the function that a call such as `it.each(table)(title, test)` starts with. */
function calledName(node: ts.Expression): string | undefined {
  if (ts.isIdentifier(node)) return node.text
  if (ts.isPropertyAccessExpression(node) || ts.isCallExpression(node)) return calledName(node.expression)
  return ts.isTaggedTemplateExpression(node) ? calledName(node.tag) : undefined
}

/** Returns the titles of the tests in a file, and of their groups, with their line numbers. */
export function titlesOf(source: string, name: string): { line: number; text: string }[] {
  const file = ts.createSourceFile(name, source, ts.ScriptTarget.Latest)
  const titles: { line: number; text: string }[] = []
  const visit = (node: ts.Node) => {
    if (ts.isCallExpression(node) && TITLED.has(calledName(node.expression) ?? '')) {
      const [title] = node.arguments
      if (title && ts.isStringLiteralLike(title))
        titles.push({ line: file.getLineAndCharacterOfPosition(title.getStart(file)).line + 1, text: title.text })
    }
    ts.forEachChild(node, visit)
  }
  visit(file)
  return titles
}

export function faultsOfFile(path: string, source: string): Fault[] {
  if (path.endsWith('.test.ts'))
    return titlesOf(source, path).flatMap(({ line, text }) => proseFaults(text).map((reason) => ({ line, reason })))
  if (/\.(?:tsx?|mjs)$/.test(path))
    return commentsOf(source, path).flatMap(({ line, text, kind }) =>
      proseFaults(text, kind === 'inside' ? MAX_SENTENCES : undefined).map((reason) => ({ line, reason })),
    )
  if (/\.(?:ya?ml|prisma)$/.test(path))
    return source.split('\n').flatMap((text, i) => {
      const comment = /^\s*(?:#|\/\/\/?)\s?(.*)$/.exec(text)?.[1]
      return comment ? proseFaults(comment).map((reason) => ({ line: i + 1, reason })) : []
    })
  return paragraphsOf(source).flatMap(({ line, text }) =>
    sentencesOf(text)
      .filter((one) => wordsOf(one) > MAX_WORDS)
      .map((one) => ({ line, reason: `has a sentence of ${wordsOf(one)} words: ${one.slice(0, 60)}…` })),
  )
}

const git = (...args: string[]) =>
  execFileSync('git', args, { encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'pipe'] })

/** Returns the rules that the subject of a commit breaks, as reasons. Accepts the subjects that git itself writes. */
export function faultsOfSubject(subject: string): string[] {
  const reasons: string[] = []
  if (subject.length > MAX_SUBJECT)
    reasons.push(`has ${subject.length} characters; ${MAX_SUBJECT} are the most allowed`)
  if (!/^(?:[a-z]+(?:\([\w, -]+\))?!?: \S|Merge |Revert |fixup! |squash! )/.test(subject))
    reasons.push('has not the form "type(scope): imperative …"')
  return reasons
}

/**
 * Returns "hash subject" of each commit after `base` whose subject is too long. Empty if git does not know `base`, as
 * in a shallow clone.
 * @param folder any folder of the repository
 */
export function longSubjects(base: string, folder = '.'): string[] {
  try {
    return git('-C', folder, 'log', '--format=%h %s', `${base}..HEAD`)
      .split('\n')
      .filter((line) => line.slice(line.indexOf(' ') + 1).length > MAX_SUBJECT)
  } catch {
    return []
  }
}

/** Checks the commit message in the file that git passes to a `commit-msg` hook. */
function checkMessage(file: string): void {
  const subject = readFileSync(file, 'utf8').split('\n', 1)[0]!
  for (const reason of faultsOfSubject(subject)) {
    process.exitCode = 1
    console.error(`The subject of the commit ${reason}: ${subject}`)
  }
}

function main(paths: string[]): void {
  const tracked = git('ls-files', '--cached', '--others', '--exclude-standard', '--', ...paths).split('\n')
  const checked = tracked.filter(
    (path) =>
      DOCUMENTS.test(path) ||
      path.endsWith('.test.ts') ||
      (CODE.some((folder) => path.startsWith(folder)) &&
        /\.(?:tsx?|mjs|ya?ml|prisma)$/.test(path) &&
        !path.includes('/generated/')),
  )
  let count = 0
  for (const path of checked)
    for (const { line, reason } of faultsOfFile(path, readFileSync(path, 'utf8'))) {
      count++
      console.log(`${path}:${line} ${reason}`)
    }
  for (const subject of paths.length === 0 ? longSubjects(SINCE) : []) {
    count++
    console.log(`commit ${subject}: more than ${MAX_SUBJECT} characters`)
  }
  if (count > 0) process.exitCode = 1
  console.log(`${checked.length} files, ${count} faults`)
}

if (import.meta.main) {
  const args = process.argv.slice(2)
  if (args[0] === '--commit-message' && args[1]) checkMessage(args[1])
  else main(args)
}
