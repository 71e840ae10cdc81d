// The pictures on buttons.

export const ICONS = {
	first: "M4 3v12M15 3L7 9l8 6z",
	back: "M6 3v12M14 4L8 9l6 5z",
	play: "M5 3l10 6-10 6z",
	pause: "M5 3h3v12H5zM10 3h3v12h-3z",
	forward: "M12 3v12M4 4l6 5-6 5z",
	entry: "M3 4l6 5-6 5zM9 4l6 5-6 5z",
};

export function Icon(props: { d: string }) {
	return (
		<svg viewBox="0 0 18 18" aria-hidden="true">
			<path d={props.d} stroke="currentColor" stroke-width="1.6" fill="currentColor" />
		</svg>
	);
}
