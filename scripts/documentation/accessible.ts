/**
 * Changes to Redoc's program beyond its translation. The program in the browser and the one that renders the page in
 * advance get the same changes, because React compares their results.
 */

/** Pieces of Redoc, by name: the code to find, and the code to put in its place. */
const CHANGES: Readonly<Record<string, readonly [RegExp, string]>> = {
  /** The menu becomes a landmark, so that screen readers can go to it and past it. */
  menu: [
    /className:[\w$]+,(?=\$collapsedSidebar:\w+,\$open:\w+,onClick:)/,
    '$&role:"navigation","aria-label":"Índice",',
  ],
  /**
   * Redoc's link to its own site is left out, because the page carries the courier company's brand. Redoc's licence (MIT)
   * asks only for its notice, which stays at the beginning of the program.
   */
  firma: [
    /\([\w$]+,(?=\{\$collapsedSidebar:\w+,children:\(0,\w+\.jsx\)\((["`])a\1,\{[^{}]*https:\/\/redocly\.com\/redoc\/\1)/,
    '(()=>null,',
  ],
  /** The name of the button that chooses an example is its text, which describes the example. */
  example: [/"aria-label":(["`])Example\1,(?=options:)/, ''],
}

/** Sizes of text in Redoc's styles, in pixels. */
const TEXT_SIZES = /((?:font-size|line-height)[\w-]*:\s*)(\d{2,})px/g
const ROOT_PIXELS = 16

/**
 * Makes the changes in Redoc's program. Sizes of text get the unit `rem`, so that they follow the size that the reader
 * chose in the browser.
 * @throws if one of the places to change no longer exists in the program
 */
export function makeAccessible(code: string): string {
  const changedCode = Object.entries(CHANGES).reduce((text, [name, [pattern, por]]) => {
    if (!pattern.test(text)) throw new Error(`Redoc no longer has ${name}: see scripts/documentation/accessible.ts`)
    return text.replace(pattern, por)
  }, code)
  return changedCode.replace(
    TEXT_SIZES,
    (_, before: string, pixels: string) => `${before}${Number(pixels) / ROOT_PIXELS}rem`,
  )
}
