/** A view that fails takes only itself down: the way to the others stays. */
import { Component, type ReactNode } from 'react';
import { Failure } from './parts.tsx';

interface BoundaryProps {
  /** Another address is another try. */
  address: string;
  children: ReactNode;
}

interface BoundaryState {
  failure: Error | null;
  address: string;
}

export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { failure: null, address: this.props.address };

  static getDerivedStateFromError(failure: Error): Partial<BoundaryState> {
    return { failure };
  }

  static getDerivedStateFromProps({ address }: BoundaryProps, state: BoundaryState): BoundaryState | null {
    return address === state.address ? null : { failure: null, address };
  }

  override render(): ReactNode {
    if (this.state.failure === null) return this.props.children;
    return (
      <>
        <h1>This view failed</h1>
        <Failure error={this.state.failure} />
      </>
    );
  }
}
