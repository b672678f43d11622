import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { beforeAll, describe, expect, it } from 'vitest'
import { waitUntil } from '../../factories.ts'
import { hasTerminal, useCli } from './run.ts'

const cli = useCli()
const { write, guias, launch } = cli
const execute = promisify(execFile)

/** Where a shell is on this machine. */
const locate = (shell: string) =>
  ['/bin', '/usr/bin', '/usr/local/bin'].map((folder) => join(folder, shell)).find((one) => existsSync(one))
const [BASH, ZSH, FISH] = ['bash', 'zsh', 'fish'].map((shell) => {
  const shellPath = locate(shell)
  if (!shellPath) console.warn(`\n*** There is no ${shell} here: what completes the CLI in it is NOT tested. ***\n`)
  return shellPath
})

/** What is typed, and the words that must be offered; the last word is what there is of it before TAB. */
const CASOS: [line: string, words: string[]][] = [
  ['guias lis', ['listar']],
  ['guias webhooks e', ['eliminar']],
  ['guias webhooks crear https://x.gt --sec', ['--secreto-en']],
  ['guias listar --creado-', ['--creado-desde', '--creado-hasta']],
  ['guias listar --estado en_', ['en_bodega', 'en_transito', 'en_ruta', 'en_devolucion']],
  ['guias listar --estado aceptado,intento', ['aceptado,intento_fallido']],
  [
    'guias webhooks crear x --tipos ubicacion.',
    ['ubicacion.*', 'ubicacion.solicitada', 'ubicacion.confirmada', 'ubicacion.vencida', 'ubicacion.fallida'],
  ],
  ['guias disparar guia.intento', ['guia.intento_fallido']],
  ['guias webhooks avisos wh_1 --estado p', ['pendiente']],
  ['guias completar z', ['zsh']],
]
const sortWords = (words: string[]) => [...words].sort()

describe('guias completar', () => {
  beforeAll(async () => {
    for (const shell of ['bash', 'zsh', 'fish']) {
      const { codigo, output, errores } = await guias(['completar', shell], { env: { GUIAS_LLAVE: '' } })
      expect([codigo, errores]).toEqual([0, ''])
      await write(`completar.${shell}`, output)
    }
    await writeFile(join(cli.folder, 'pedido.json'), '')
  })

  it('refuses other shells', async () => {
    expect(await guias(['completar', 'tcsh'])).toMatchObject({
      codigo: 2,
      errores: expect.stringContaining('bash, zsh o fish'),
    })
  })

  describe.skipIf(!BASH)('bash', () => {
    it.each(CASOS)('completes «%s»', async (line, words) => {
      const script = `source completar.bash; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _guias; printf '%s\\n' "\${COMPREPLY[@]}"`
      const { stdout } = await execute(BASH!, ['--norc', '-c', script, 'bash', ...line.split(' ')], {
        cwd: cli.folder,
      })
      expect(sortWords(stdout.trim().split('\n'))).toEqual(sortWords(words))
    })

    it.skipIf(!hasTerminal)('completes on a terminal, files too', async () => {
      const bash = launch([], {
        program: ['/usr/bin/script', '-qec', `${BASH} --norc -i`, '/dev/null'],
        input: null,
        env: { TERM: 'dumb', PS1: 'listo> ', BASH_SILENCE_DEPRECATION_WARNING: '1' },
      })
      await waitUntil(async () => bash.output.includes('listo>'))
      bash.child.stdin.write('source completar.bash; guias() { echo "<$*>"; }\n')
      for (const [typedText, outcome] of [
        ['guias webhooks rot\t wh_1 --sol\t\n', '<webhooks rotar-secreto wh_1 --solapamiento>'],
        ['guias listar --estado=intento\t\n', '<listar --estado=intento_fallido>'],
        ['guias crear pedi\t\n', '<crear pedido.json>'],
      ]) {
        bash.child.stdin.write(typedText)
        await waitUntil(async () => bash.output.includes(outcome!))
      }
      bash.child.stdin.end('exit\n')
      await bash.fin
    })
  })

  it.skipIf(!FISH).each(CASOS)('fish completes «%s»', async (line, words) => {
    const script = 'source completar.fish; complete -C $argv[1]'
    const { stdout } = await execute(FISH!, ['--no-config', '-c', script, line], { cwd: cli.folder })
    expect(
      sortWords(
        stdout
          .trim()
          .split('\n')
          .map((one) => one.split('\t')[0]!),
      ),
    ).toEqual(sortWords(words))
  })

  it.skipIf(!ZSH || !hasTerminal)('zsh completes on a terminal', async () => {
    const zsh = launch([], {
      program: ['/usr/bin/script', '-qec', `${ZSH} -f -i`, '/dev/null'],
      input: null,
      env: { TERM: 'dumb', PS1: 'listo> ' },
    })
    await waitUntil(async () => zsh.output.includes('listo>'))
    zsh.child.stdin.write('source completar.zsh; guias() { print -r -- "<$*>" }; print com"pinit"\n')
    await waitUntil(async () => zsh.output.includes('compinit'))
    const singleCases = CASOS.filter(([, words]) => words.length === 1)
    for (const [line, [word]] of singleCases) {
      zsh.child.stdin.write(`${line}\t\n`)
      const outcome = `<${line.split(' ').slice(1, -1).concat(word!).join(' ')}>`
      await waitUntil(async () => zsh.output.includes(outcome))
    }
    zsh.child.stdin.end('exit\n')
    await zsh.fin
  })
})
