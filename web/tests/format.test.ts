import { describe, expect, it } from 'vitest'

import { clockText, compactNumber, contextLoad, percentText, splitDuration } from '@/lib/format'
import { meterView } from '@/lib/meter'
import { codePoints, dropCodePoints } from '@/lib/text'

describe('numbers', () => {
  it.each([
    [0, '0'],
    [999, '999'],
    [1234, '1.2K'],
    [12345, '12.3K'],
    [999_949, '999.9K'],
    [999_950, '1.0M'],
    [1234567, '1.2M'],
  ])('%i tokens read %s', (value, text) => {
    expect(compactNumber(value)).toBe(text)
  })

  it.each([
    [0, 'ok'],
    [50, 'ok'],
    [50.1, 'warn'],
    [80, 'warn'],
    [80.1, 'bad'],
    [null, 'unknown'],
  ] as const)('a context of %s %% is %s', (percent, load) => {
    expect(contextLoad(percent)).toBe(load)
  })

  it('shows a percentage with at most one decimal', () => {
    expect([32, 32.44, 99.96].map(percentText)).toEqual(['32', '32.4', '100'])
  })

  it('counts a thought in whole seconds and then in minutes', () => {
    expect(splitDuration(300)).toEqual({ unit: 'seconds', seconds: 1, minutes: 0 })
    expect(splitDuration(59_400)).toEqual({ unit: 'seconds', seconds: 59, minutes: 0 })
    expect(splitDuration(125_000)).toEqual({ unit: 'minutes', seconds: 5, minutes: 2 })
  })

  it('writes tool times short', () => {
    expect([40, 100, 18_240, 125_000].map(clockText)).toEqual(['40 ms', '0.1 s', '18.2 s', '2:05'])
  })
})

describe('the meter', () => {
  const current = {
    inputTokens: 12345,
    outputTokens: 2100,
    totalTokens: 14445,
    reasoningTokens: null,
    cachedTokens: null,
    apiCalls: 3,
    cost: null,
  }

  it('shows the run only while it runs, the context always', () => {
    const context = { usedTokens: 1, maxTokens: 2, percent: 32, source: 'vendor' as const }
    expect(meterView({ current, context }, true)).toEqual({
      run: { in: '12.3K', out: '2.1K', n: 3 },
      percent: '32',
      load: 'ok',
    })
    expect(meterView({ current, context }, false).run).toBeNull()
  })

  it('guesses nothing where the vendor told nothing', () => {
    const context = { usedTokens: null, maxTokens: null, percent: null, source: 'unknown' as const }
    const silent = { ...current, inputTokens: null, outputTokens: null }
    expect(meterView({ current: silent, context }, true)).toEqual({
      run: { in: '–', out: '–', n: 3 },
      percent: null,
      load: 'unknown',
    })
    expect(meterView(null, true)).toEqual({ run: null, percent: null, load: 'unknown' })
  })
})

describe('code points', () => {
  it('counts a pair of surrogates once', () => {
    expect(codePoints('a思🧠b')).toBe(4)
  })

  it('drops whole characters', () => {
    expect(dropCodePoints('🧠🧠思a', 2)).toBe('思a')
    expect(dropCodePoints('ab', 5)).toBe('')
  })
})
