// After the build: writes the .gz twins that the gateway serves, prints what the first page load
// costs (gzip, the entry and what it imports) and fails above the budget.
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { gzipSync } from 'node:zlib'

const BUDGET_KB = 230
const out = fileURLToPath(new URL('../../src/silu/gateway/static/', import.meta.url))
const manifest = JSON.parse(readFileSync(`${out}manifest.json`, 'utf8'))

for (const name of readdirSync(out, { recursive: true })) {
  if (!/\.(js|css|svg|html)$/.test(name)) continue
  const text = readFileSync(out + name)
  if (text.length > 1000) writeFileSync(`${out}${name}.gz`, gzipSync(text, { level: 9 }))
}

const entry = Object.values(manifest).find((chunk) => chunk.isEntry)
const seen = new Set()
const styles = new Set()
function visit(chunk) {
  if (seen.has(chunk.file)) return
  seen.add(chunk.file)
  for (const css of chunk.css ?? []) styles.add(css)
  for (const name of chunk.imports ?? []) visit(manifest[name])
}
visit(entry)

const zipped = (file) => gzipSync(readFileSync(out + file), { level: 9 }).length
const sum = (files) => [...files].reduce((total, file) => total + zipped(file), 0) / 1000
const js = sum(seen)
console.log(`entry: ${js.toFixed(1)} kB gz JS (${seen.size} files), ${sum(styles).toFixed(1)} kB gz CSS`)
for (const chunk of Object.values(manifest)) {
  if (!seen.has(chunk.file) && chunk.file.endsWith('.js')) {
    console.log(`  later: ${chunk.file} ${(statSync(out + chunk.file).size / 1000).toFixed(1)} kB`)
  }
}
if (js > BUDGET_KB) {
  console.error(`the entry is over its budget of ${BUDGET_KB} kB`)
  process.exit(1)
}
