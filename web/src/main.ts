import { createPinia } from 'pinia'
import { createApp } from 'vue'

import App from './App.vue'
import { takeToken } from './composables/useRoute'
import { i18n, useLocale } from './i18n'
import { api, ApiError } from './lib/api'
import { usePrefs } from './stores/prefs'

import './styles/tokens.css'
import './styles/base.css'
import './styles/markdown.css'

async function start(): Promise<void> {
  const token = takeToken()
  const app = createApp(App)
  app.use(createPinia())
  app.use(i18n)
  const signedIn = token === null ? Promise.resolve() : api.login(token)
  await Promise.all([useLocale(usePrefs().locale), signedIn.catch(refused)])
  app.mount('#app')
}

/** A used or old link: the page then asks for another one, unless its cookie still holds. */
function refused(error: unknown): void {
  if (!(error instanceof ApiError)) throw error
}

void start()
