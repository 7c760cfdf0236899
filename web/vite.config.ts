import { fileURLToPath, URL } from 'node:url'

import vue from '@vitejs/plugin-vue'
import { defineConfig, type Plugin } from 'vite'

const gateway = process.env.SILU_GATEWAY ?? 'http://127.0.0.1:8765'

/** The formula fonts in the one form that every browser we build for reads. */
const oneFontForm: Plugin = {
  name: 'one-font-form',
  enforce: 'pre',
  transform: (code, id) =>
    id.includes('katex.min.css')
      ? code.replace(/,\s*url\([^)]*\.(?:woff|ttf)\)\s*format\("[a-z]+"\)/g, '')
      : null,
}

export default defineConfig({
  plugins: [vue(), oneFontForm],
  resolve: { alias: { '@': fileURLToPath(new URL('./src', import.meta.url)) } },
  define: {
    __VUE_OPTIONS_API__: false,
    __VUE_PROD_DEVTOOLS__: false,
    __VUE_I18N_LEGACY_API__: false,
    __VUE_I18N_FULL_INSTALL__: false,
    __INTLIFY_PROD_DEVTOOLS__: false,
  },
  build: {
    outDir: '../src/silu/gateway/static',
    emptyOutDir: true,
    manifest: 'manifest.json',
    target: 'es2022',
    // The page forbids data: scripts and styles, and the polyfill would be dead weight.
    modulePreload: { polyfill: false },
    assetsInlineLimit: 0,
  },
  server: { proxy: { '/api': { target: gateway, ws: true, changeOrigin: true } } },
  test: {
    environment: 'jsdom',
    include: ['tests/**/*.test.ts'],
    setupFiles: ['tests/setup.ts'],
    restoreMocks: true,
  },
} as Parameters<typeof defineConfig>[0])
