// A reply as a tree that the keyboard reaches: the arrow keys move, open and close, as WAI-ARIA describes.
// Long lists are drawn in parts.

import type { TargetedKeyboardEvent } from 'preact'
import { useEffect, useMemo, useRef, useState } from 'preact/hooks'
import { findOperation } from '../description'
import type { TreeNode } from '../reply/tree'
import { collapse, expand, firstOpen, more, partSize, rowsOf, type Opened, type Row } from './rows'
import { go } from '../router'
import { text } from './words'

const expandLimit = 2000

export function ReplyTree({ root }: { root: TreeNode }) {
  const [opened, setOpened] = useState<Opened>(() => firstOpen(root, 200))
  const [active, setActive] = useState(0)
  const tree = useRef<HTMLUListElement>(null)
  const shouldFocus = useRef(false)
  const last = useRef(root)
  if (last.current !== root) {
    last.current = root
    setOpened(firstOpen(root, 200))
    setActive(0)
  }
  const rows = useMemo(() => rowsOf(root, opened), [root, opened])
  const at = Math.min(active, rows.length - 1)
  useEffect(() => {
    if (shouldFocus.current) tree.current?.querySelector<HTMLElement>(`[data-row="${at}"]`)?.focus()
    shouldFocus.current = false
  })
  const act = (row: Row, to: 'open' | 'close' | 'toggle') => {
    if (row.kind === 'more') setOpened(more(opened, row.parent))
    else if (row.node.size === 0) return
    else if (opened.has(row.node) && to !== 'open') setOpened(collapse(opened, row.node))
    else if (!opened.has(row.node) && to !== 'close') setOpened(expand(opened, row.node))
  }
  const onKeyDown = (event: TargetedKeyboardEvent<HTMLUListElement>) => {
    const row = rows[at]!
    const move = (to: number) => {
      shouldFocus.current = true
      setActive(Math.max(0, Math.min(rows.length - 1, to)))
    }
    const isOpen = row.kind === 'node' && opened.has(row.node)
    const isBranch = row.kind === 'node' && row.node.size > 0
    const actions: Record<string, () => void> = {
      ArrowDown: () => move(at + 1),
      ArrowUp: () => move(at - 1),
      Home: () => move(0),
      End: () => move(rows.length - 1),
      ArrowRight: () => (isOpen ? move(at + 1) : isBranch && act(row, 'open')),
      ArrowLeft: () => (isOpen ? act(row, 'close') : move(rows.findLastIndex((each, i) => i < at && each.level < row.level))),
      Enter: () => {
        const link = linkOf(row)
        if (link) go(link.hash)
        else act(row, 'toggle')
      },
      ' ': () => act(row, 'toggle'),
    }
    const action = actions[event.key]
    if (!action || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    action()
  }
  return (
    <>
      <div class="tree-tools">
        <button type="button" class="plain" onClick={() => setOpened(firstOpen(root, expandLimit))} data-testid="expand-all">
          {text('expandAll')}
        </button>
        <button type="button" class="plain" onClick={() => setOpened(new Map([[root, partSize]]))} data-testid="collapse-all">
          {text('collapseAll')}
        </button>
      </div>
      <ul class="tree" role="tree" aria-label={text('reply')} ref={tree} onKeyDown={onKeyDown} data-testid="tree">
        {rows.map((row, i) => (
          <TreeRow
            key={row.key}
            row={row}
            index={i}
            isActive={i === at}
            isOpen={row.kind === 'node' && opened.has(row.node)}
            choose={() => {
              setActive(i)
              act(row, 'toggle')
            }}
          />
        ))}
      </ul>
    </>
  )
}

const mostOfAValue = 2000

function TreeRow(props: { row: Row; index: number; isActive: boolean; isOpen: boolean; choose: () => void }) {
  const { row } = props
  const isBranch = row.kind === 'node' && row.node.size > 0
  return (
    <li
      role="treeitem"
      aria-level={row.level}
      aria-posinset={row.position}
      aria-setsize={row.of}
      aria-expanded={isBranch ? props.isOpen : undefined}
      aria-selected={props.isActive}
      tabIndex={props.isActive ? 0 : -1}
      class={isBranch ? 'branch' : row.kind}
      ref={element => element?.style.setProperty('--level', String(row.level - 1))}
      onClick={props.choose}
      data-row={props.index}
      data-name={row.kind === 'node' ? row.node.name : undefined}
    >
      {row.kind === 'more' ? <span class="tree-more">{text('showMore', { n: Math.min(partSize, row.left), left: row.left })}</span> : <NodeText row={row} isBranch={isBranch} />}
    </li>
  )
}

function NodeText({ row, isBranch }: { row: Row & { kind: 'node' }; isBranch: boolean }) {
  const { node } = row
  const link = linkOf(row)
  const count = node.size
  const value = node.value.length > mostOfAValue ? node.value.slice(0, mostOfAValue) + '…' : node.value
  return (
    <>
      <span class="tree-name">{node.name}</span>
      {isBranch || node.kind === 'list' ? (
        <span class="tree-count">{count === 1 ? text('oneItem') : text('items', { n: count })}</span>
      ) : (
        <span class={`tree-value ${node.kind}`}>{value}</span>
      )}
      {link && (
        <a class="tree-link" href={link.hash} tabIndex={-1} aria-label={text('openWith', { func: link.func })} title={text('openWith', { func: link.func })} onClick={event => event.stopPropagation()}>
          →
        </a>
      )}
    </>
  )
}

const readers: Record<string, [func: string, parameter: string]> = {
  albumID: ['getAlbum', 'albumID'],
  POIID: ['getPOI', 'POIID'],
  blogID: ['getBlog', 'blogID'],
  replyBlogID: ['getBlog', 'blogID'],
}

/** Returns the form that reads the content of an identifier. */
function linkOf(row: Row): { func: string; hash: string } | undefined {
  if (row.kind !== 'node' || !/^[1-9]\d{0,15}$/.test(row.node.value)) return
  const reader = Object.hasOwn(readers, row.node.name) ? readers[row.node.name] : undefined
  if (!reader || !findOperation(reader[0])) return
  return { func: reader[0], hash: `#/explore/${reader[0]}?${reader[1]}=${row.node.value}` }
}
