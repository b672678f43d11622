import { esGrupo, opcionesDe } from './ayuda.ts'
import { ErrorDeUso, type Opcion, type Orden, type Ordenes, SALIDA } from './orden.ts'
import { decir } from './terminal.ts'

/**
 * Position in a command line, with the words that the shell can complete there: commands, options and their values,
 * arguments.
 */
interface Lugar {
  /** Words typed before this position: none, `listar`, `webhooks` or `webhooks crear`. */
  camino: string
  ordenes: readonly (readonly [nombre: string, resumen: string])[]
  opciones: readonly (readonly [nombre: string, opcion: Opcion])[]
  completa: Orden['completa']
}

function lugaresDe(ordenes: Ordenes, antes = ''): Lugar[] {
  const aqui: Lugar = {
    camino: antes,
    ordenes: Object.entries(ordenes).map(([nombre, { resumen }]) => [nombre, resumen]),
    opciones: [['help', { dice: 'esta ayuda' }], ...(antes ? [] : [['version', { dice: 'la versión' }] as const])],
    completa: undefined,
  }
  const suyos = Object.entries(ordenes).flatMap(([nombre, una]) => {
    const camino = antes ? `${antes} ${nombre}` : nombre
    if (esGrupo(una)) return lugaresDe(una.ordenes, camino)
    return [{ camino, ordenes: [], opciones: Object.entries(opcionesDe(una)), completa: una.completa }]
  })
  return [aqui, ...suyos]
}

const esArchivo = ({ valor }: Opcion) => valor === '<ruta>'

/** Puts a text in single quotes, in the form that bash, zsh and fish all read. */
const citar = (texto: string) => `'${texto.replaceAll("'", "'\\''")}'`

const CABECERA = (como: string) => `# Completado de guias. ${como}
# Hecho con «guias completar»: al actualizar el paquete, hágalo otra vez.
`

/**
 * Joins the values of an option with spaces. Escapes `*`, so that the shell does not expand the value as a file name
 * pattern.
 */
const palabras = ({ valores = [] }: Opcion) => valores.map((uno) => uno.replaceAll('*', '\\*')).join(' ')

/**
 * Writes the completion script for bash. The script uses no associative arrays and no `mapfile`, because macOS still
 * has bash 3.2.
 */
function paraBash(lugares: readonly Lugar[]): string {
  const grupos = lugares.filter(({ ordenes }) => ordenes.length > 0)
  const conValor = (elige: (opcion: Opcion) => boolean) =>
    lugares.flatMap(({ camino, opciones }) =>
      opciones
        .filter(([, opcion]) => opcion.valor && elige(opcion))
        .map(([nombre, opcion]) => ({ clave: `${camino} --${nombre}`, opcion })),
    )
  const valores = conValor(({ valores }) => Boolean(valores))
  const archivos = conValor(esArchivo)
  const libres = conValor((opcion) => !opcion.valores && !esArchivo(opcion))
  const juntas = (claves: { clave: string }[]) => claves.map(({ clave }) => citar(clave)).join('|')
  return `${CABECERA('Póngalo en ~/.bashrc:  source <(guias completar bash)')}
_guias() {
  local actual=\${COMP_WORDS[COMP_CWORD]} previa=\${COMP_WORDS[COMP_CWORD-1]} camino= palabra i
  # bash splits --estado=en into three words: --estado, = and en.
  [[ $actual == = ]] && actual=
  [[ $previa == = ]] && previa=\${COMP_WORDS[COMP_CWORD-2]}
  for ((i = 1; i < COMP_CWORD; i++)); do
    palabra=\${COMP_WORDS[i]}
    [[ $palabra == -* ]] && break
    case "$camino\${camino:+ }$palabra" in
      ${lugares.flatMap(({ camino }) => (camino ? [citar(camino)] : [])).join('|')}) camino="$camino\${camino:+ }$palabra" ;;
      *) break ;;
    esac
  done
  COMPREPLY=()
  compopt +o default 2>/dev/null
  case "$camino $previa" in
${valores.map(({ clave, opcion }) => `    ${citar(clave)}) _guias_lista ${citar(opcion.valores!.join(' '))}; return ;;`).join('\n')}
    ${juntas(archivos)}) compopt -o default 2>/dev/null; return ;;
    ${juntas(libres)}) return ;;
  esac
  if [[ $actual == -* ]]; then
    case "$camino" in
${lugares.map(({ camino, opciones }) => `      ${citar(camino)}) COMPREPLY=($(compgen -W ${citar(opciones.map(([nombre]) => `--${nombre}`).join(' '))} -- "$actual")) ;;`).join('\n')}
    esac
    return
  fi
  case "$camino" in
${grupos.map(({ camino, ordenes }) => `    ${citar(camino)}) COMPREPLY=($(compgen -W ${citar(ordenes.map(([nombre]) => nombre).join(' '))} -- "$actual")) ;;`).join('\n')}
${lugares
  .flatMap(({ camino, completa }) =>
    Array.isArray(completa)
      ? [`    ${citar(camino)}) COMPREPLY=($(compgen -W ${citar(completa.join(' '))} -- "$actual")) ;;`]
      : completa
        ? [`    ${citar(camino)}) compopt -o default 2>/dev/null ;;`]
        : [],
  )
  .join('\n')}
  esac
}
# Completes the last element of a list with commas.
_guias_lista() {
  local antes= palabra
  [[ $actual == *,* ]] && antes=\${actual%,*},
  while IFS= read -r palabra; do COMPREPLY+=("$antes$palabra"); done < <(compgen -W "$1" -- "\${actual##*,}")
}
complete -o default -F _guias guias
`
}

function paraZsh(lugares: readonly Lugar[]): string {
  // In zsh's `_arguments`, colons and brackets are syntax and must be escaped.
  const limpio = (texto: string) => texto.replace(/[[\]:\\]/g, '\\$&')
  const opcionDe = ([nombre, opcion]: readonly [string, Opcion]) => {
    const que = opcion.valores
      ? `:valor:${opcion.varias ? `_sequence compadd - ${palabras(opcion)}` : `(${palabras(opcion)})`}`
      : `:valor:${esArchivo(opcion) ? '_files' : ' '}`
    return citar(
      `${opcion.varias ? '*' : ''}--${nombre}${opcion.valor ? '=' : ''}[${limpio(opcion.dice)}]${opcion.valor ? que : ''}`,
    )
  }
  const casos = lugares.map(({ camino, ordenes, opciones, completa }) => {
    // `{:}` is an action that does nothing. Without an action, zsh would stop completing options at the first argument.
    const accion = Array.isArray(completa) ? `(${completa.join(' ')})` : completa ? '_files' : '{:}'
    const hace =
      ordenes.length > 0
        ? `lista=(${ordenes.map(([nombre, resumen]) => citar(`${nombre}:${resumen.replaceAll(':', '\\:')}`)).join(' ')})
      if [[ $PREFIX == -* ]]; then _arguments ${opciones.map(opcionDe).join(' ')}; else _describe orden lista; fi`
        : `_arguments ${[...opciones.map(opcionDe), citar(`*:argumento:${accion}`)].join(' \\\n        ')}`
    return `    ${citar(camino)})\n      ${hace} ;;`
  })
  return `#compdef guias
${CABECERA('Póngalo en una carpeta de $fpath como _guias, o en ~/.zshrc:  source <(guias completar zsh)')}
_guias() {
  local -a lista
  local camino= palabra
  local -i i=2
  while (( i < CURRENT )); do
    palabra=$words[i]
    case "$camino\${camino:+ }$palabra" in
      ${lugares.flatMap(({ camino }) => (camino ? [citar(camino)] : [])).join('|')}) camino="$camino\${camino:+ }$palabra" ;;
      *) break ;;
    esac
    (( i++ ))
  done
  # Removes the command's name from the words, so that zsh does not count it as an argument.
  words=(guias "\${(@)words[i,-1]}")
  (( CURRENT -= i - 2 ))
  case $camino in
${casos.join('\n')}
  esac
}
(( $+functions[compdef] )) || { autoload -Uz compinit && compinit }
if [[ $funcstack[1] == _guias ]]; then _guias "$@"; else compdef _guias guias; fi
`
}

function paraFish(lugares: readonly Lugar[]): string {
  const lineas = lugares.flatMap(({ camino, ordenes, opciones, completa }) => {
    const donde = `-n ${citar(`__guias_en ${citar(camino).replaceAll("'", '"')}`)}`
    return [
      ...ordenes.map(([nombre, resumen]) => `complete -c guias ${donde} -f -a ${nombre} -d ${citar(resumen)}`),
      ...opciones.map(([nombre, opcion]) => {
        const { valor, valores, dice, varias } = opcion
        const lista = varias ? `(__fish_append , ${palabras(opcion)})` : palabras(opcion)
        const que = valores ? ` -x -a ${citar(lista)}` : valor === '<ruta>' ? ' -r -F' : valor ? ' -x' : ' -f'
        return `complete -c guias ${donde} -l ${nombre}${que} -d ${citar(dice)}`
      }),
      ...(Array.isArray(completa) ? [`complete -c guias ${donde} -f -a ${citar(completa.join(' '))}`] : []),
      ...(completa === 'archivo' ? [`complete -c guias ${donde} -F`] : []),
    ]
  })
  return `${CABECERA('Guárdelo:  guias completar fish > ~/.config/fish/completions/guias.fish')}
function __guias_en
    set -l palabras (commandline -opc)[2..-1]
    set -l camino
    for palabra in $palabras
        string match -q -- '-*' $palabra; and break
        set -l siguiente (string join ' ' -- $camino $palabra)
        contains -- $siguiente ${lugares.flatMap(({ camino }) => (camino ? [citar(camino)] : [])).join(' ')}; or break
        set camino $siguiente
    end
    test "$camino" = "$argv[1]"
end
complete -c guias -f
${lineas.join('\n')}
`
}

const SHELLS = { bash: paraBash, zsh: paraZsh, fish: paraFish }

/**
 * Creates the command `completar`, which writes the completion of all commands.
 *
 * @param ordenes returns all commands; a function, because the list includes this command
 */
export const crearCompletar = (ordenes: () => Ordenes): Orden => ({
  resumen: 'escribe el completado para su terminal: bash, zsh o fish',
  uso: ['completar bash|zsh|fish'],
  explica: `Escribe el guion con que su terminal completa órdenes, opciones y sus valores al
pulsar TAB. Completa «guias», no «npx guias»: instale el paquete con npm -g, o
haga un alias.

  bash    source <(guias completar bash)              (en ~/.bashrc)
  zsh     source <(guias completar zsh)               (en ~/.zshrc)
  fish    guias completar fish > ~/.config/fish/completions/guias.fish`,
  opciones: {},
  posicionales: [1, 1],
  completa: Object.keys(SHELLS),
  local: true,
  muestra: true,
  async ejecutar({ posicionales: [cual = ''] }) {
    const hacer = Object.hasOwn(SHELLS, cual) ? SHELLS[cual as keyof typeof SHELLS] : undefined
    if (!hacer) throw new ErrorDeUso(`No sé completar «${cual}»: elija bash, zsh o fish.`)
    decir(hacer(lugaresDe(ordenes())).trimEnd())
    return SALIDA.bien
  },
})
