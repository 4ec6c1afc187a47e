/** Radio buttons side by side. */
export function Segments<Option extends string>(props: {
  name: string
  label: string
  options: readonly Option[]
  disabled?: readonly Option[]
  hint?: string | undefined
  value: Option
  choose: (option: Option) => void
}) {
  return (
    <fieldset class="segments-field" aria-describedby={props.hint ? `hint-${props.name}` : undefined}>
      <legend class="field-title">{props.label}</legend>
      <div class="segments">
        {props.options.map(each => (
          <label key={each} class={props.value === each ? 'chosen' : undefined}>
            <input
              type="radio"
              name={props.name}
              value={each}
              checked={props.value === each}
              disabled={props.disabled?.includes(each)}
              onChange={() => props.choose(each)}
              data-testid={`${props.name}-${each}`}
            />
            {each}
          </label>
        ))}
      </div>
      {props.hint && (
        <p id={`hint-${props.name}`} class="hint">
          {props.hint}
        </p>
      )}
    </fieldset>
  )
}
