export { Html, html } from '../platform/html.ts'
