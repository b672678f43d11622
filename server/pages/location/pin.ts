/** Outline of the pin of all maps, as an SVG path. Its tip is at {@link PIN_TIP}, and its hole has the centre (24, 23). */
export const PIN_OUTLINE = 'M24 2C12.4 2 3 11.4 3 23c0 15.5 19 33 21 35 2-2 21-19.5 21-35C45 11.4 35.6 2 24 2Z'
/** Point of the outline that is at the place. */
export const PIN_TIP = { x: 24, y: 58 }
