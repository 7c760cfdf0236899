// Writes src/generated/protocol.ts from the gateway's published JSON Schema.
// `--check` compares instead of writing and fails when the file is out of date.
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))
const target = fileURLToPath(new URL('../src/generated/protocol.ts', import.meta.url))

function python() {
  const own = `${root}/.venv/bin/python`
  return process.env.SILU_PYTHON ?? (existsSync(own) ? own : 'python3')
}

function schema() {
  const file = process.argv.find((word) => word.endsWith('.json'))
  if (file) return JSON.parse(readFileSync(file, 'utf8'))
  const out = execFileSync(python(), ['-m', 'silu.gateway.protocol'], {
    cwd: root,
    maxBuffer: 1 << 26,
  })
  return JSON.parse(out.toString())
}

const refName = (ref) => ref.slice(ref.lastIndexOf('/') + 1)
const unique = (items) => [...new Set(items)]

function typeOf(node) {
  if (node === true || Object.keys(node).length === 0) return 'unknown'
  if (node.$ref) return refName(node.$ref)
  if ('const' in node) return JSON.stringify(node.const)
  if (node.enum) return node.enum.map((value) => JSON.stringify(value)).join(' | ')
  const choices = node.anyOf ?? node.oneOf
  if (choices) return unique(choices.map(typeOf)).join(' | ')
  if (Array.isArray(node.type)) {
    return unique(node.type.map((type) => typeOf({ ...node, type }))).join(' | ')
  }
  switch (node.type) {
    case 'string':
      return 'string'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'boolean'
    case 'null':
      return 'null'
    case 'array':
      if (node.prefixItems) return `[${node.prefixItems.map(typeOf).join(', ')}]`
      return node.items ? `Array<${typeOf(node.items)}>` : 'unknown[]'
    case 'object':
      return objectType(node)
    default:
      return 'unknown'
  }
}

function objectType(node) {
  if (!node.properties) {
    const values = node.additionalProperties
    return `Record<string, ${typeof values === 'object' ? typeOf(values) : 'unknown'}>`
  }
  return `{ ${fields(node).join('; ')} }`
}

function fields(node) {
  const required = new Set(node.required ?? [])
  return Object.entries(node.properties).map(([name, value]) => {
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name)
    return `${key}${required.has(name) ? '' : '?'}: ${typeOf(value)}`
  })
}

function declaration(name, node) {
  const note = node.description
    ? `/** ${node.description.replace(/\s+/g, ' ').replaceAll('*/', '* /')} */\n`
    : ''
  if (node.type === 'object' && node.properties) {
    const lines = fields(node).map((line) => `  ${line}`)
    return `${note}export interface ${name} {\n${lines.join('\n')}\n}`
  }
  return `${note}export type ${name} = ${typeOf(node)}`
}

function generate(document) {
  const head =
    '// Generated from the gateway protocol by scripts/generate-types.mjs; do not edit.\n' +
    `export const PROTOCOL_VERSION = ${document.version}\n`
  const body = Object.entries(document.$defs).map(([name, node]) => declaration(name, node))
  return `${head}\n${body.join('\n\n')}\n`
}

const text = generate(schema())
if (process.argv.includes('--check')) {
  const kept = existsSync(target) ? readFileSync(target, 'utf8') : ''
  if (kept !== text) {
    console.error('src/generated/protocol.ts is out of date: run `npm run types`')
    process.exit(1)
  }
  console.log('src/generated/protocol.ts is up to date')
} else {
  writeFileSync(target, text)
}
