/**
 * Icons of lucide-static that the pages show, by their names there. The generator writes the drawing of each into
 * `server/generado/contrato/iconos.ts`, as a constant of its own, so that a bundle contains only those that it shows.
 */
export const ICON_NAMES = [
  'arrow-right',
  'ban',
  'calendar-days',
  'chevron-right',
  'circle-check',
  'circle-dashed',
  'circle-question-mark',
  'code-xml',
  'house',
  'inbox',
  'link',
  'locate-fixed',
  'map-pin',
  'package',
  'package-open',
  'package-search',
  'pencil',
  'phone',
  'route',
  'search',
  'shield-check',
  'store',
  'triangle-alert',
  'truck',
  'undo-2',
  'warehouse',
  'x',
] as const
