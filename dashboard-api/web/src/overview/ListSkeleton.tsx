export function ListSkeleton() {
  return (
    <div aria-hidden className="list-skeleton">
      {[62, 48, 70, 55, 40, 66].map((width) => (
        <div key={width} className="target">
          <span className="skeleton" style={{ width: 22, height: 22 }} />
          <span className="skeleton" style={{ width: `${width}%`, height: 14 }} />
          <span className="skeleton bar" style={{ height: 26 }} />
        </div>
      ))}
    </div>
  );
}
