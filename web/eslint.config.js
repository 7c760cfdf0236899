import js from '@eslint/js'
import vue from 'eslint-plugin-vue'
import globals from 'globals'
import ts from 'typescript-eslint'

export default ts.config(
  { ignores: ['node_modules', 'src/generated', 'dist'] },
  js.configs.recommended,
  ...ts.configs.strict,
  ...vue.configs['flat/recommended'],
  {
    files: ['**/*.{ts,vue}'],
    languageOptions: {
      parserOptions: { parser: ts.parser, extraFileExtensions: ['.vue'] },
      globals: globals.browser,
    },
    rules: {
      'no-undef': 'off',
      'max-lines': ['error', { max: 400, skipBlankLines: true }],
      'max-depth': ['error', 4],
      complexity: ['error', 14],
      'no-console': 'error',
      eqeqeq: 'error',
      'vue/multi-word-component-names': 'off',
      'vue/max-attributes-per-line': 'off',
      'vue/singleline-html-element-content-newline': 'off',
      'vue/html-self-closing': ['error', { html: { void: 'always' } }],
      'vue/no-v-html': 'error',
      'vue/require-default-prop': 'off',
      'vue/component-api-style': ['error', ['script-setup']],
      'vue/block-lang': ['error', { script: { lang: 'ts' } }],
    },
  },
  { files: ['scripts/**'], languageOptions: { globals: globals.node } },
  { files: ['public/**'], languageOptions: { globals: globals.browser, sourceType: 'script' } },
)
