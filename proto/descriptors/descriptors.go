// Package descriptors embeds the contracts with their comments, so that server reflection
// can serve them. The generated Go code leaves comments out. It also lists all methods,
// including those of services that the program does not link.
package descriptors

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protodesc"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"
)

// encoded is a FileDescriptorSet of the contracts, ordered so that each follows its
// imports.
//
//go:embed waybook.binpb
var encoded []byte

// Resolver finds the descriptors of the contracts, including comments, and all others in
// the global registry. It decodes the contracts on first use. It is safe for concurrent
// use. The zero value is ready.
type Resolver struct {
	once      sync.Once
	contracts protoregistry.Files
	err       error
}

// FindFileByPath finds a file by its path, such as "waybook/album/v1/album.proto".
func (r *Resolver) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if err := r.decode(); err != nil {
		return nil, err
	}
	return layered{&r.contracts}.FindFileByPath(path)
}

// FindDescriptorByName finds a descriptor by its full name.
func (r *Resolver) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if err := r.decode(); err != nil {
		return nil, err
	}
	return layered{&r.contracts}.FindDescriptorByName(name)
}

func (r *Resolver) decode() error {
	r.once.Do(func() { r.err = register(&r.contracts) })
	return r.err
}

// Method is a method of a contract.
type Method struct {
	// FullName is its name in calls, such as "/waybook.album.v1.AlbumService/GetAlbum".
	FullName string
	// Its options hold an extension if the program links the code of the extension.
	*descriptorpb.MethodDescriptorProto
}

// Methods returns the methods of all contracts, in the order in which the contracts declare
// them. The program need not link the contracts' code. It decodes the contracts each time.
func Methods() ([]Method, error) {
	set, err := decode()
	if err != nil {
		return nil, err
	}
	files := set.GetFile()
	slices.SortFunc(files, func(a, b *descriptorpb.FileDescriptorProto) int {
		return strings.Compare(a.GetName(), b.GetName())
	})
	var methods []Method
	for _, file := range files {
		for _, service := range file.GetService() {
			for _, method := range service.GetMethod() {
				methods = append(methods,
					Method{"/" + file.GetPackage() + "." + service.GetName() + "/" + method.GetName(), method})
			}
		}
	}
	return methods, nil
}

func decode() (*descriptorpb.FileDescriptorSet, error) {
	set := &descriptorpb.FileDescriptorSet{}
	if err := proto.Unmarshal(encoded, set); err != nil {
		return nil, fmt.Errorf("contracts: %w", err)
	}
	return set, nil
}

func register(files *protoregistry.Files) error {
	set, err := decode()
	if err != nil {
		return err
	}
	for _, each := range set.GetFile() {
		file, err := protodesc.NewFile(each, layered{files})
		if err != nil {
			return fmt.Errorf("contracts: %w", err)
		}
		if err := files.RegisterFile(file); err != nil {
			return fmt.Errorf("contracts: %w", err)
		}
	}
	return nil
}

// layered searches files first, then the global registry.
type layered struct{ files *protoregistry.Files }

func (l layered) FindFileByPath(path string) (protoreflect.FileDescriptor, error) {
	if file, err := l.files.FindFileByPath(path); err == nil {
		return file, nil
	}
	return protoregistry.GlobalFiles.FindFileByPath(path)
}

func (l layered) FindDescriptorByName(name protoreflect.FullName) (protoreflect.Descriptor, error) {
	if found, err := l.files.FindDescriptorByName(name); err == nil {
		return found, nil
	}
	return protoregistry.GlobalFiles.FindDescriptorByName(name)
}
