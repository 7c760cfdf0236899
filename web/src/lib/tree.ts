// The list of conversations as families: a root with its branches, whatever branched off which.
import type { SessionItem } from '@/generated/protocol'

export interface Family {
  root: SessionItem
  /** Oldest first, so that a branch keeps its place while it is spoken with. */
  branches: SessionItem[]
  /** When anything in the family happened last. */
  updatedAt: number
}

/** Families, the one used last first. A branch whose root is not in the list is its own root. */
export function familiesOf(items: readonly SessionItem[]): Family[] {
  const byId = new Map(items.map((item) => [item.id, item]))
  const families = new Map<string, Family>()
  for (const item of items) {
    const root = rootOf(item, byId)
    const family = families.get(root.id) ?? { root, branches: [], updatedAt: 0 }
    if (item.id !== root.id) family.branches.push(item)
    family.updatedAt = Math.max(family.updatedAt, item.updated_at)
    families.set(root.id, family)
  }
  for (const family of families.values()) {
    family.branches.sort((a, b) => a.created_at - b.created_at)
  }
  return [...families.values()].sort((a, b) => b.updatedAt - a.updatedAt)
}

function rootOf(item: SessionItem, byId: ReadonlyMap<string, SessionItem>): SessionItem {
  let root = item
  for (let steps = byId.size; steps > 0; steps -= 1) {
    const parent = root.parent_id === null ? undefined : byId.get(root.parent_id)
    if (parent === undefined) return root
    root = parent
  }
  return item
}
