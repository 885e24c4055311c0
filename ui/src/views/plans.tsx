import { api } from '../api.ts';
import { useLoad } from '../parts/load.ts';
import { Failure } from '../parts/message.tsx';
import { useTitle } from '../parts/title.ts';

export function PlansView() {
  useTitle('Plans');
  const { value, error } = useLoad(() => api.plans(), []);
  return (
    <section>
      <h1>Plans</h1>
      <p>A plan is a workload in TOML. Open one to change it, check it, and start it.</p>
      <Failure error={error} />
      <ul class="plans">
        {value?.map(plan => (
          <li key={plan.name}>
            <a href={`/plans/${encodeURIComponent(plan.name)}`}>{plan.name}</a>
            <span>{plan.about}</span>
          </li>
        ))}
      </ul>
    </section>
  );
}
