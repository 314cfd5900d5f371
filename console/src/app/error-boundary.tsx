import { Component, type ComponentType, type ReactNode } from 'react';

type Props = {
  readonly fallback: ComponentType<{ error: Error; reset: () => void }>;
  readonly children: ReactNode;
};

/** React catches errors in classes only. */
export class ErrorBoundary extends Component<Props, { error: Error | undefined }> {
  override state: { error: Error | undefined } = { error: undefined };

  static getDerivedStateFromError(error: Error) {
    return { error };
  }

  override render(): ReactNode {
    const { error } = this.state;
    const { fallback: Fallback, children } = this.props;
    return error === undefined ? (
      children
    ) : (
      <Fallback error={error} reset={() => this.setState({ error: undefined })} />
    );
  }
}
