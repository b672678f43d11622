/** Minimum contrast between text and its background (WCAG 2.2, 1.4.3). */
export const MIN_CONTRAST = 4.5
/** Default brand colour, if none is configured. */
export const DEFAULT_COLOR = '#0b6b3a'
const WHITE = '#ffffff'
/**
 * Background of cards in the dark theme, `--hundido` of `server/pages/ui/tokens.css`. It is the lightest background of
 * the brand colour in that theme.
 */
const NIGHT = '#1d2421'
/**
 * Minimum contrast of the brand colour in the dark theme. It is higher than the general minimum, because light letters
 * on a dark background look thinner.
 */
const NIGHT_CONTRAST = 7

const channels = (color: string) => [1, 3, 5].map((i) => Number.parseInt(color.slice(i, i + 2), 16) / 255)
const toLinear = (canal: number) => (canal <= 0.04045 ? canal / 12.92 : ((canal + 0.055) / 1.055) ** 2.4)
const fromLinear = (canal: number) => (canal <= 0.0031308 ? canal * 12.92 : 1.055 * canal ** (1 / 2.4) - 0.055)

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = channels(color).map(toLinear)
  return 0.2126 * r + 0.7152 * g + 0.0722 * b
}

/** Contrast ratio of two colours, from 1 to 21 (WCAG 2.2). */
export function contrast(first: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(first), luminance(other)].sort((a, b) => b - a)
  return (light + 0.05) / (dark + 0.05)
}

export const contrastWithWhite = (color: string) => contrast(color, WHITE)

/** Converts a colour to Oklab: lightness and two colour axes, in which equal steps look equal. */
function oklab(color: string): [number, number, number] {
  const [r = 0, g = 0, b = 0] = channels(color).map(toLinear)
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b)
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b)
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b)
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ]
}

function toRgb(light: number, a: number, b: number): number[] {
  const l = (light + 0.3963377774 * a + 0.2158037573 * b) ** 3
  const m = (light - 0.1055613458 * a - 0.0638541728 * b) ** 3
  const s = (light - 0.0894841775 * a - 1.291485548 * b) ** 3
  return [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ]
}

/**
 * Returns the colour with another lightness. Keeps as much of its saturation as a screen can show at that lightness.
 */
function withLight(color: string, light: number): string {
  const [, a, b] = oklab(color)
  const rgb = Array.from({ length: 51 }, (_, i) => toRgb(light, a * (1 - i / 50), b * (1 - i / 50)))
  const visible =
    rgb.find((channelValues) => channelValues.every((canal) => canal > -0.0005 && canal < 1.0005)) ?? rgb.at(-1)!
  const hex = visible.map((canal) => Math.round(Math.min(1, Math.max(0, fromLinear(Math.max(0, canal)))) * 255))
  return `#${hex.map((canal) => canal.toString(16).padStart(2, '0')).join('')}`
}

/**
 * Returns the colour itself if its contrast with the background is at least `minimum`. Otherwise changes its lightness
 * in steps of `step` until the contrast suffices.
 */
function moveToContrast(color: string, background: string, minimum: number, step: number): string {
  const [startLightness] = oklab(color)
  let nearest = color
  for (let light = startLightness; contrast(nearest, background) < minimum && light >= 0 && light <= 1; light += step) {
    nearest = withLight(color, light)
  }
  return nearest
}

/** Returns the nearest colour that is readable on white, and on which white is readable. */
export const darker = (color: string) => moveToContrast(color, WHITE, MIN_CONTRAST, -0.004)

/** Brand colour in the dark theme. */
export const forDarkMode = (color: string) => moveToContrast(color, NIGHT, NIGHT_CONTRAST, 0.004)
